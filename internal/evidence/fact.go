package evidence

import (
	"strings"

	"github.com/deed-dev/deed/internal/value"
)

// Mode says whether a fact tells what happened or how something stood.
type Mode string

// The modes of facts. An empty mode is an event.
const (
	Event Mode = "event"
	State Mode = "state"
)

// Fact is one revision of what a system of record says happened. Facts are not
// changed once made.
type Fact struct {
	Source     string `json:"source"`
	ExternalID string `json:"external_id"`
	// Type is a family and a name within it: refund.succeeded. A later
	// revision may have another name in the same family.
	Type        string                 `json:"type"`
	SubjectID   string                 `json:"subject_id,omitzero"`
	SubjectKind string                 `json:"subject_kind,omitzero"`
	Refs        map[string]string      `json:"refs,omitzero"`  // correlation keys
	Attrs       map[string]value.Value `json:"attrs,omitzero"` // what conditions read
	OccurredAt  value.Instant          `json:"occurred_at"`    // by the source's clock
	// ObservedAt is when the source was read; it orders revisions that have no
	// number.
	ObservedAt value.Instant `json:"observed_at,omitzero"`
	// IngestedAt is when we got it, by our clock. A fact is known at a time if
	// it was ingested by then; no time means that it was always known.
	IngestedAt value.Instant `json:"ingested_at,omitzero"`
	Mode       Mode          `json:"mode,omitzero"`
	// Revision is the source's own number of this revision, if it has one.
	Revision  int64 `json:"revision,omitzero"`
	Retracted bool  `json:"retracted,omitzero"`
	// Payload is the digest of what the source sent, for whoever looks further.
	Payload string `json:"payload,omitzero"`
}

// Identity tells facts apart, whatever their revision.
type Identity struct {
	Source     string
	Family     string
	ExternalID string
}

// Identity of the fact, of which it is one revision.
func (f *Fact) Identity() Identity {
	return Identity{Source: f.Source, Family: Family(f.Type), ExternalID: f.ExternalID}
}

// Family is the part of a type before its first dot.
func Family(factType string) string {
	family, _, _ := strings.Cut(factType, ".")
	return family
}

// Attr is an attribute by name. A fact that does not state its currency, but
// whose amounts all are in one, has that currency.
func (f *Fact) Attr(name string) value.Value {
	v, ok := f.Attrs[name]
	if ok || name != "currency" {
		return v
	}
	for _, attr := range f.Attrs {
		if attr.Kind() != value.Money {
			continue
		}
		c := value.OfCurrency(attr.Amount().Currency)
		if !v.IsMissing() && value.Compare(v, c) != value.Equal {
			return value.Value{}
		}
		v = c
	}
	return v
}

// Actor is who did it, by the attribute of that name, or empty.
func (f *Fact) Actor() string { return f.Attrs["actor"].Text() }
