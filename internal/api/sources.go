package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Sources are the systems of record of a workspace; see [intake.Service] for the
// errors.
type Sources interface {
	Sources(ctx context.Context, p access.Principal) ([]store.SourceState, error)
	Source(ctx context.Context, p access.Principal, name string) (*store.SourceState, error)
	CreateSource(ctx context.Context, p access.Principal, o intake.SourceOrder) (*store.SourceState, error)
	ChangeSource(ctx context.Context, p access.Principal, name string, c intake.SourceChange) (*store.SourceState, error)
	PutWatermarks(ctx context.Context, p access.Principal, source string, marks map[string]value.Instant) (*store.SourceState, error)
}

type sourceList struct {
	Sources []view.Source `json:"sources" jsonschema:"by name"`
}

type sourceOnly struct {
	Source view.Source `json:"source"`
}

// newSource is a source to be made.
type newSource struct {
	Name       string              `json:"name" jsonschema:"never changes; contracts name it"`
	Title      string              `json:"title,omitzero"`
	Trust      evidence.Trust      `json:"trust,omitzero" jsonschema:"asserted without it"`
	Provides   []string            `json:"provides,omitempty" jsonschema:"fact types; empty means any"`
	Resolution evidence.Resolution `json:"resolution,omitzero" jsonschema:"the unit of its times; 1s without it"`
}

// changedSource has what shall be changed of a source.
type changedSource struct {
	Title      *string              `json:"title,omitzero"`
	Trust      *evidence.Trust      `json:"trust,omitzero"`
	Provides   *[]string            `json:"provides,omitzero"`
	Resolution *evidence.Resolution `json:"resolution,omitzero"`
}

// watermarks say up to when facts of each type are complete.
type watermarks struct {
	Watermarks map[string]value.Instant `json:"watermarks" jsonschema:"by fact type, inclusive"`
}

func listSources(c *call) (reply, error) {
	found, err := c.services.Sources.Sources(c.ctx, c.principal)
	list := sourceList{Sources: make([]view.Source, 0, len(found))}
	for i := range found {
		list.Sources = append(list.Sources, view.SourceOf(&found[i]))
	}
	return answered(list, err)
}

// sourceReply answers one source.
func sourceReply(s *store.SourceState, err error) (reply, error) {
	if err != nil {
		return reply{}, named(err, "such source")
	}
	return answered(sourceOnly{view.SourceOf(s)}, nil)
}

func getSource(c *call) (reply, error) {
	return sourceReply(c.services.Sources.Source(c.ctx, c.principal, c.path("source")))
}

func createSource(c *call, in *newSource) (reply, error) {
	r, err := sourceReply(c.services.Sources.CreateSource(c.ctx, c.principal, intake.SourceOrder{
		Name: in.Name, Title: in.Title, Trust: in.Trust, Provides: in.Provides, Resolution: time.Duration(in.Resolution),
	}))
	r.status, r.location = http.StatusCreated, "/v1/sources/"+url.PathEscape(in.Name)
	return r, err
}

func changeSource(c *call, in *changedSource) (reply, error) {
	return sourceReply(c.services.Sources.ChangeSource(c.ctx, c.principal, c.path("source"), intake.SourceChange{
		Title: in.Title, Trust: in.Trust, Provides: in.Provides, Resolution: (*time.Duration)(in.Resolution),
	}))
}

func putWatermarks(c *call, in *watermarks) (reply, error) {
	return sourceReply(c.services.Sources.PutWatermarks(c.ctx, c.principal, c.path("source"), in.Watermarks))
}
