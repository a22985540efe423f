package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/terminal"
)

// sourceCmd is deed source.
type sourceCmd struct {
	List     sourceListCmd     `cmd:"" help:"The sources, and how complete they are."`
	Add      sourceAddCmd      `cmd:"" help:"Make a source."`
	Set      sourceSetCmd      `cmd:"" help:"Change what a source is."`
	Complete sourceCompleteCmd `cmd:"" help:"State up to when a source's facts are complete."`
}

type sourceListCmd struct{ serverFlags }

// Help is printed under the flags of deed source list --help.
func (sourceListCmd) Help() string { return "Example:\n\n    deed source list" }

func (c *sourceListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/sources", nil, nil, console.Sources)
}

// sourceFlags are what a source is.
type sourceFlags struct {
	Title      string   `help:"A title for people." placeholder:"TEXT"`
	Trust      string   `help:"self_reported, asserted, attested or independent: how far it is out of the agent's reach." placeholder:"TRUST"`
	Provides   []string `help:"A fact type that it can tell of; give it again for more." placeholder:"TYPE"`
	Resolution string   `help:"The unit of its times; a second without it." placeholder:"DURATION"`
}

func (f sourceFlags) body() map[string]any {
	body := map[string]any{}
	for name, value := range map[string]string{"title": f.Title, "trust": f.Trust, "resolution": f.Resolution} {
		if value != "" {
			body[name] = value
		}
	}
	if len(f.Provides) > 0 {
		body["provides"] = f.Provides
	}
	return body
}

type sourceAddCmd struct {
	serverFlags
	sourceFlags
	Name string `arg:"" help:"Its name, as contracts and facts have it."`
}

// Help is printed under the flags of deed source add --help.
func (sourceAddCmd) Help() string {
	return `Example:

    deed source add stripe --trust attested --provides refund.succeeded --provides refund.failed

Who may write its facts is a matter of keys: deed key create --preset evidence
--source NAME.`
}

func (c *sourceAddCmd) Run(ctx context.Context, w *world) error {
	body := c.body()
	body["name"] = c.Name
	return c.exchange(ctx, w, http.MethodPost, "/v1/sources", nil, body, console.Sources)
}

type sourceSetCmd struct {
	serverFlags
	sourceFlags
	Name string `arg:"" help:"The source."`
}

// Help is printed under the flags of deed source set --help.
func (sourceSetCmd) Help() string {
	return "Example:\n\n    deed source set stripe --trust independent"
}

func (c *sourceSetCmd) Run(ctx context.Context, w *world) error {
	body := c.body()
	if len(body) == 0 {
		return &misuse{errNothingAsked("what to change", "deed source set stripe --trust independent")}
	}
	return c.exchange(ctx, w, http.MethodPatch, "/v1/sources"+part(c.Name), nil, body, console.Sources)
}

type sourceCompleteCmd struct {
	serverFlags
	Name string   `arg:"" help:"The source."`
	UpTo string   `arg:"" help:"The time up to which its facts are complete, inclusive; now is this moment."`
	Type []string `help:"A fact type; give it again for more." placeholder:"TYPE" required:""`
}

// Help is printed under the flags of deed source complete --help.
func (sourceCompleteCmd) Help() string {
	return `Example:

    deed source complete stripe 2026-11-02T12:00:00Z --type refund.succeeded

From then on, that a fact of this type is not there up to that time means that it
did not happen. It needs a key that may write the source's facts.`
}

func (c *sourceCompleteCmd) Run(ctx context.Context, w *world) error {
	at := c.UpTo
	if at == "now" {
		at = w.clock.Now().UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	marks := map[string]string{}
	for _, t := range c.Type {
		marks[t] = at
	}
	if len(marks) != len(c.Type) {
		return &misuse{terminal.WithHint(errors.New("a type stands there twice"), "name each --type once")}
	}
	return c.exchange(ctx, w, http.MethodPut, "/v1/sources"+part(c.Name)+"/watermark", nil, map[string]any{"watermarks": marks}, console.Sources)
}
