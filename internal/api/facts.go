package api

import (
	"context"
	"strings"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Facts are what systems of record say; see [intake.Service] for the errors.
type Facts interface {
	Push(ctx context.Context, p access.Principal, facts []intake.Fact) (isNew []bool, err error)
	List(ctx context.Context, p access.Principal, f store.FactFilter, page store.Page) ([]store.Fact, store.Cursor, error)
	Revisions(ctx context.Context, p access.Principal, id evidence.Identity) ([]store.Fact, error)
}

// factForm describes one fact as it is told. The text itself is read by
// internal/intake.
type factForm struct {
	Source      string                 `json:"source" jsonschema:"one that the workspace has and the key is bound to"`
	ExternalID  string                 `json:"external_id" jsonschema:"the source's own id of what happened"`
	Type        string                 `json:"type" jsonschema:"a family and a name within it: refund.succeeded"`
	SubjectID   string                 `json:"subject_id,omitzero"`
	SubjectKind string                 `json:"subject_kind,omitzero"`
	Refs        map[string]string      `json:"refs,omitempty" jsonschema:"correlation keys"`
	Attrs       map[string]value.Value `json:"attrs,omitempty" jsonschema:"what conditions read"`
	OccurredAt  value.Instant          `json:"occurred_at" jsonschema:"by the source's clock"`
	ObservedAt  value.Instant          `json:"observed_at,omitzero" jsonschema:"when the source was read"`
	Mode        evidence.Mode          `json:"mode,omitzero"`
	Revision    int64                  `json:"revision,omitzero" jsonschema:"the source's own number of this revision"`
	Retracted   bool                   `json:"retracted,omitzero" jsonschema:"the source takes it back"`
	Payload     string                 `json:"payload,omitzero" jsonschema:"digest of what the source sent"`
}

type factsForm struct {
	Facts []factForm `json:"facts" jsonschema:"1 to 1,000"`
}

type told struct {
	New     int          `json:"new"`
	Known   int          `json:"known"`
	Results []toldResult `json:"results" jsonschema:"in the order of the facts"`
}

type toldResult struct {
	Recorded string `json:"recorded" jsonschema:"new, or known if its content was there already"`
}

func pushFacts(c *call) (reply, error) {
	text, err := c.read()
	if err != nil {
		return reply{}, err
	}
	facts, err := intake.Parse(text)
	if err != nil {
		return reply{}, err
	}
	isNew, err := c.services.Facts.Push(c.ctx, c.principal, facts)
	if err != nil {
		return reply{}, err
	}
	out := told{Results: make([]toldResult, 0, len(isNew))}
	for _, is := range isNew {
		if is {
			out.New++
			out.Results = append(out.Results, toldResult{recordedNew})
		} else {
			out.Known++
			out.Results = append(out.Results, toldResult{recordedKnown})
		}
	}
	return answered(out, nil)
}

type factList struct {
	Period     *view.Period  `json:"period,omitzero" jsonschema:"the one that was asked for"`
	Facts      []view.Fact   `json:"facts"`
	NextCursor *store.Cursor `json:"next_cursor"`
}

var factFilters = append(
	filters("source", "type", "subject_id", "external_id"),
	param{name: "ref", about: "a correlation key, as NAME:VALUE"}, periodParam,
)

// factFilter is what a list of facts is narrowed to.
func (c *call) factFilter() (store.FactFilter, *view.Period, error) {
	q := c.query
	f := store.FactFilter{Source: q.text("source"), Type: q.text("type"), SubjectID: q.text("subject_id"), ExternalID: q.text("external_id")}
	if q.has("ref") {
		var both bool
		if f.Ref, f.RefValue, both = strings.Cut(q.text("ref"), ":"); !both || f.Ref == "" || f.RefValue == "" {
			return f, nil, &RequestError{Field: "ref", Message: "is written as NAME:VALUE"}
		}
	}
	span, err := q.period(c.at)
	if err != nil || span == nil {
		return f, nil, err
	}
	f.From, f.To = span.From, span.To
	return f, span, nil
}

func listFacts(c *call) (reply, error) {
	f, span, err := c.factFilter()
	if err != nil {
		return reply{}, err
	}
	found, next, err := c.services.Facts.List(c.ctx, c.principal, f, c.query.page())
	if err != nil {
		return reply{}, err
	}
	return answered(factList{Period: span, Facts: factsOf(found), NextCursor: cursor(next)}, nil)
}

func factsOf(facts []store.Fact) []view.Fact {
	list := make([]view.Fact, 0, len(facts))
	for i := range facts {
		list = append(list, view.FactOf(&facts[i]))
	}
	return list
}

type factRevisions struct {
	Revisions []view.Fact `json:"revisions" jsonschema:"in the order in which they were kept"`
}

func getFact(c *call) (reply, error) {
	id := evidence.Identity{Source: c.path("source"), Family: c.path("family"), ExternalID: c.path("external_id")}
	found, err := c.services.Facts.Revisions(c.ctx, c.principal, id)
	if err != nil {
		return reply{}, named(err, "such fact")
	}
	return answered(factRevisions{factsOf(found)}, nil)
}
