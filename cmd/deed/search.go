package main

import (
	"context"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type searchCmd struct {
	Text string `arg:"" optional:"" help:"What to look for in arguments, results and error texts."`
	Tool string `help:"Only calls of this tool." placeholder:"NAME"`
	Host string `help:"Only calls whose data was going there: a host, mail address or network address." placeholder:"NAME"`
	scopeFlags
	Errors bool `help:"Only calls that failed or were never answered."`
	Limit  int  `help:"How many calls." short:"n" default:"20"`
	JSON   bool `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed search --help.
func (searchCmd) Help() string {
	return `Example:
    deed search "order 4711"
    deed search --host api.example.com --since 14d
    deed search timeout --tool fetch --errors

Prints each call with its id, which deed show takes, and the place in it that
matched. Text is one or more words that all stand in the arguments, the result
or the error text of a call, in any case; a word that ends in * is the begin of
one. It is looked for in what was kept of these, secrets replaced; a journal at
capture level shape keeps none of them.
Exit code 1: nothing was found.`
}

// Validate refuses a search for nothing and a list of nothing.
func (c *searchCmd) Validate() error {
	switch {
	case c.Text == "" && c.Tool == "" && c.Host == "" && c.Session == "" && c.Since == "" && !c.Errors:
		return errNothingAsked("what to search for", `deed search "order 4711"`)
	case c.Limit < 1:
		return errTooSmall("-n", c.Limit)
	}
	return nil
}

func (c *searchCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	found := false
	err = w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		query := report.SearchQuery{Scope: scope, Text: c.Text, Tool: c.Tool, Host: c.Host, Errors: c.Errors, Limit: c.Limit}
		search, err := report.SearchCalls(ctx, reader, w.clock, query)
		if err == nil && search.Unsearched() > 0 && w.indexTexts(ctx) {
			search, err = report.SearchCalls(ctx, reader, w.clock, query)
		}
		if err != nil {
			return err
		}
		found = search.Any()
		return w.answer(search, c.JSON)
	})
	if err == nil && !found {
		return exitCode(exitNegative)
	}
	return err
}

// indexPatience is how long a search may first bring the text index on.
const indexPatience = 3 * time.Second

// indexTexts brings the text index on and says whether that was possible. In
// a home that cannot be written it is not, and the answer says what it missed.
func (w *world) indexTexts(ctx context.Context) bool {
	home, err := w.folder()
	if err != nil {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, indexPatience)
	defer stop()
	_, err = journal.IndexTexts(ctx, home)
	return err == nil
}
