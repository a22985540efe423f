package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type showCmd struct {
	Call string `arg:"" help:"The call's id, as deed tail and deed last print it; \"last\" is the newest call."`
	Body string `help:"Write what was kept of the message itself, and nothing else: request or result." placeholder:"WHICH"`
	JSON bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed show --help.
func (showCmd) Help() string {
	return `Example:
    deed show 6d4e47f7.12
    deed show last
    deed show 6d4e47f7.12 --body result > answer.json

Prints the request, what belongs to it and its answer: sizes, times, arguments
and result as far as they were kept (secrets replaced), where data was going,
what was replaced and why, whatever was odd, the hashes, and where the entries
stand in the log. What the capture level does not keep is shown by its names,
types and sizes.
Exit code 1: there is no such call, or no such body.`
}

// Validate refuses flags that would have no effect, and other messages than
// the two that a call has.
func (c *showCmd) Validate() error {
	switch report.Message(c.Body) {
	case "":
		return nil
	case report.MessageRequest, report.MessageResult:
		if c.JSON {
			return errTogether("--body", "--json")
		}
		return nil
	}
	return terminal.WithHint(fmt.Errorf("--body %q is no message of a call", c.Body), "the messages: --body request   --body result")
}

func (c *showCmd) Run(ctx context.Context, w *world) error {
	return w.ask(ctx, func(ctx context.Context, history *journal.Reader) error {
		story, err := report.ShowCall(ctx, history, w.clock, c.Call)
		if err != nil {
			return err
		}
		if c.Body != "" {
			return w.body(ctx, history, story, report.Message(c.Body))
		}
		return w.answer(story, c.JSON)
	})
}

// body writes what was kept of a message, byte for byte.
func (w *world) body(ctx context.Context, reader *journal.Reader, story *report.Story, message report.Message) error {
	if w.shows {
		return &misuse{terminal.WithHint(errors.New("a body is written byte for byte, and a terminal would act on what is in it"),
			"write it to a file: > FILE\nor look at it: | less")}
	}
	body, info, err := story.Body(ctx, reader, message)
	if err != nil {
		return err
	}
	defer body.Close() // it was only read
	if _, err := io.Copy(w.stdout, body); err != nil {
		return fmt.Errorf("write the body: %w", err)
	}
	if info.Omitted > 0 {
		fmt.Fprintf(w.stderr, "deed: %s were left out when it was recorded, after the first %s\n", terminal.Size(info.Omitted), terminal.Size(info.Head))
	}
	return nil
}
