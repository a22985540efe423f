package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/terminal"
)

// factCmd is deed fact.
type factCmd struct {
	List   factListCmd   `cmd:"" help:"Facts, the latest kept first."`
	Import factImportCmd `cmd:"" help:"Send the facts of a file, JSON lines or CSV."`
}

type factListCmd struct {
	serverFlags
	pageFlags
	Source  string `help:"Only of this source." placeholder:"NAME"`
	Type    string `help:"Only of this type." placeholder:"TYPE"`
	Subject string `help:"Only on this subject." placeholder:"ID"`
	Ref     string `help:"Only with this correlation key." placeholder:"NAME:VALUE"`
	Period  string `help:"By when they happened: a month, last 7 days, or FROM..TO." placeholder:"PERIOD"`
}

// Help is printed under the flags of deed fact list --help.
func (factListCmd) Help() string {
	return "Example:\n\n    deed fact list --source stripe --subject o-1001"
}

func (c *factListCmd) Run(ctx context.Context, w *world) error {
	query := c.set(url.Values{})
	for name, value := range map[string]string{"source": c.Source, "type": c.Type, "subject_id": c.Subject, "ref": c.Ref, "period": c.Period} {
		with(query, name, value)
	}
	return c.exchange(ctx, w, http.MethodGet, "/v1/facts", query, nil, console.Facts)
}

type factImportCmd struct {
	serverFlags
	File   string `arg:"" help:"A file of facts; - is standard input."`
	Map    string `help:"Which column of a CSV file is what; the file is CSV then." placeholder:"FILE"`
	Part   int    `help:"How many facts go in one request, up to 1,000." default:"500"`
	NoNote bool   `help:"Do not note beside the file how far the import is."`
}

// Help is printed under the flags of deed fact import --help.
func (factImportCmd) Help() string {
	return `Example:

    deed fact import refunds.jsonl
    deed fact import bank.csv --map bank.map.yaml

A line of JSON is a fact as POST /v1/facts takes it. For CSV the mapping names
what each part is made of; {column} stands for what the row has there:

    source: bank
    type: refund.succeeded
    external_id: "{id}"
    occurred_at: "{booked}"
    time_layout: "2006-01-02 15:04:05"
    zone: Europe/Berlin
    subject_id: "{order}"
    refs: {idempotency_key: "{reference}"}
    attrs: {amount: {amount: "{value}", currency: "{currency}"}, lines: {number: "{n}"}}

The import may be stopped at any time and begun again: facts that the server has
are not kept twice, and what was sent is noted in FILE.progress, so that it goes on
there. A line that cannot be taken is told with its number; what stands before it
in the file is kept.

DEED_API_KEY must be an evidence key that is bound to the source.

Exit code 0: all facts are kept. 1: some could not be sent. 2: a line is no fact,
or the server does not take it.`
}

func (c *factImportCmd) Run(ctx context.Context, w *world) error {
	if c.Part < 1 || c.Part > 1000 {
		return &misuse{terminal.WithHint(fmt.Errorf("--part %d is not within 1 and 1000", c.Part), "500 is right for most")}
	}
	server, err := c.connect(w)
	if err != nil {
		return err
	}
	var mapping *console.CSVMapping
	if c.Map != "" {
		if mapping, err = console.ReadCSVMapping(c.Map); err != nil {
			return &misuse{terminal.WithHint(err, "an example: deed fact import --help")}
		}
	}
	open, finish := c.opener(w, mapping)
	defer finish()
	return interruptible(ctx, func(ctx context.Context) error {
		im := &console.Import{Conn: server.Conn, Part: c.Part, Tell: func(n int64) { w.progress.Tell("facts", n, 0) }}
		if c.File != "-" && !c.NoNote {
			im.Note = c.File + ".progress"
			if im.Workspace, err = server.workspace(ctx); err != nil {
				return err
			}
		}
		sum, err := im.Run(ctx, open)
		w.progress.Clear()
		if err != nil {
			return c.stopped(server, sum, err)
		}
		raw, err := json.Marshal(sum)
		if err != nil {
			return fmt.Errorf("show the result: %w", err)
		}
		return w.answer(console.Said(raw, "%s, of which %s new", terminal.Plural(sum.Skipped+sum.New+sum.Known, "fact"), terminal.Count(sum.New)), c.JSON)
	})
}

// workspace is the one that the credential belongs to.
func (r *reached) workspace(ctx context.Context) (string, error) {
	raw, err := r.ask(ctx, http.MethodGet, "/v1/session", nil, nil)
	if err != nil {
		return "", err
	}
	var body struct {
		Session struct{ Workspace struct{ ID string } }
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return "", fmt.Errorf("read the server's answer: %w", err)
	}
	return body.Session.Workspace.ID, nil
}

// stopped tells what ended an import, and how it goes on.
func (c *factImportCmd) stopped(server *reached, sum console.Imported, err error) error {
	how := "nothing was kept of it"
	if before := sum.Skipped + sum.New + sum.Known; before > 0 {
		are := "are"
		if before == 1 {
			are = "is"
		}
		how = fmt.Sprintf("%s before that %s kept (%s new); run the same again to go on", terminal.Plural(before, "fact"), are, terminal.Count(sum.New))
	}
	if lines := console.LineErrors(err); len(lines) > 0 {
		const most = 10
		var next []string
		for i, line := range lines[1:] {
			if i == most {
				next = append(next, fmt.Sprintf("and %s more", terminal.Count(int64(len(lines)-1-most))))
				break
			}
			next = append(next, line.Error())
		}
		return &misuse{terminal.WithHint(lines[0], strings.Join(append(next, how), "\n"))}
	}
	err = server.refused(err, "/v1/facts")
	next := how
	if hint, ok := errors.AsType[*terminal.Hint](err); ok {
		next = hint.Next + "\n" + how
	}
	var wrong *misuse
	if errors.As(err, &wrong) {
		return &misuse{terminal.WithHint(err, next)}
	}
	return terminal.WithHint(err, next)
}

// opener opens the file at its beginning, as often as it is called; standard input
// only once.
func (c *factImportCmd) opener(w *world, mapping *console.CSVMapping) (open func() (*console.FactFile, error), finish func()) {
	var file *os.File
	open = func() (*console.FactFile, error) {
		reader, name := w.stdin, "standard input"
		if c.File != "-" {
			if file == nil {
				opened, err := os.Open(c.File)
				if err != nil {
					return nil, &misuse{fmt.Errorf("open the facts: %w", err)}
				}
				file = opened
			} else if _, err := file.Seek(0, io.SeekStart); err != nil {
				return nil, fmt.Errorf("go back to the beginning of %s: %w", c.File, err)
			}
			reader, name = file, c.File
		}
		if mapping != nil {
			return console.CSV(name, reader, mapping)
		}
		return console.JSONLines(name, reader), nil
	}
	return open, func() {
		if file != nil {
			_ = file.Close() // nothing was written
		}
	}
}
