package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/deed-dev/deed/internal/remote"
)

// Evidence tells the server what a system of record says. Its key holds
// facts:write and is bound to sources; it must never be where an agent could use
// it. It is safe for many goroutines.
type Evidence struct{ conn *remote.Conn }

// NewEvidence makes one for the server at an address, with an evidence key.
func NewEvidence(address, key string, options ...Option) (*Evidence, error) {
	conn, err := open(address, key, gather(options))
	if err != nil {
		return nil, err
	}
	return &Evidence{conn: conn}, nil
}

// Fact is one revision of what a system of record says happened. Source, the part
// of Type before its first dot, and ExternalID are its identity.
type Fact struct {
	Source      string            `json:"source"`
	ExternalID  string            `json:"external_id"`
	Type        string            `json:"type"` // such as refund.succeeded
	SubjectID   string            `json:"subject_id,omitempty"`
	SubjectKind string            `json:"subject_kind,omitempty"`
	Refs        map[string]string `json:"refs,omitempty"`  // correlation keys
	Attrs       map[string]any    `json:"attrs,omitempty"` // what conditions read; see [Money]
	OccurredAt  time.Time         `json:"occurred_at"`     // by the source's clock
	ObservedAt  time.Time         `json:"observed_at,omitzero"`
	State       bool              `json:"-"` // it tells how something stood, not what happened
	Revision    int64             `json:"revision,omitempty"`
	Retracted   bool              `json:"retracted,omitempty"` // the source takes it back
	Payload     string            `json:"payload,omitempty"`
}

// Pushed is how many facts were new to the server and how many it knew.
type Pushed struct{ New, Known int }

// Push tells facts, up to [MaxBatch] in one transaction. Of each such part either
// all are kept or none; the counts are of those that were kept, also beside an
// error. The same fact again changes nothing.
func (e *Evidence) Push(ctx context.Context, facts ...Fact) (Pushed, error) {
	var sum Pushed
	for len(facts) > 0 {
		part := facts[:min(MaxBatch, len(facts))]
		facts = facts[len(part):]
		type sent struct {
			Fact
			Mode string `json:"mode,omitempty"`
		}
		body := make([]sent, len(part))
		for i, f := range part {
			f.OccurredAt, f.ObservedAt = f.OccurredAt.UTC(), f.ObservedAt.UTC()
			body[i] = sent{Fact: f}
			if f.State {
				body[i].Mode = "state"
			}
		}
		var answer Pushed
		_, err := e.conn.Call(ctx, http.MethodPost, "/v1/facts", nil, map[string]any{"facts": body}, &answer)
		if err != nil {
			return sum, told(err)
		}
		sum.New += answer.New
		sum.Known += answer.Known
	}
	return sum, nil
}

// Complete states up to when, inclusive, a source's facts of these types are
// complete: from then on, that something is not there means that it did not
// happen. Say it only after all facts up to that time were pushed.
func (e *Evidence) Complete(ctx context.Context, source string, upTo time.Time, types ...string) error {
	watermarks := make(map[string]time.Time, len(types))
	for _, t := range types {
		watermarks[t] = upTo.UTC()
	}
	path := "/v1/sources/" + url.PathEscape(source) + "/watermark"
	_, err := e.conn.Call(ctx, http.MethodPut, path, nil, map[string]any{"watermarks": watermarks}, nil)
	return told(err)
}
