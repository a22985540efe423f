package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/report"
)

type flushCmd struct {
	List    bool    `help:"Only show what is in the outbox."`
	Retry   bool    `help:"Send what is undeliverable once more, too."`
	AnyKey  bool    `help:"Send what was meant for this server with another key, too, such as one that was replaced."`
	APIURL  string  `name:"api-url" help:"The server that is sent to. The key for it is $$DEED_API_KEY." placeholder:"URL" env:"DEED_API_URL,COMMITLAYER_API_URL"`
	Timeout seconds `help:"How many seconds each declaration waits for its answer." default:"5"`
	JSON    bool    `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed flush --help.
func (flushCmd) Help() string {
	return `Example:
    deed flush
    deed flush --list
    DEED_API_KEY=... deed flush --retry --any-key

Recorders send what waits by themselves while they run; this does it now. Only
what was meant for the same server and key is sent. Without a key and a server
nothing is sent, and what is in the outbox is shown.
Exit code 1: something is left that waits or is undeliverable.`
}

// Validate refuses flags that would have no effect.
func (c *flushCmd) Validate() error {
	switch {
	case c.List && c.Retry:
		return errTogether("--list", "--retry")
	case c.List && c.AnyKey:
		return errTogether("--list", "--any-key")
	}
	return nil
}

func (c *flushCmd) Run(ctx context.Context, w *world) error {
	home, err := w.folder()
	if err != nil {
		return err
	}
	key := declareKey()
	if c.APIURL == "" {
		c.APIURL = firstSet("DEED_API_URL", "COMMITLAYER_API_URL")
	}
	sends := !c.List && key != "" && c.APIURL != ""
	if !sends && (c.Retry || c.AnyKey) {
		return &misuse{errors.New("nothing can be sent: DEED_API_KEY and DEED_API_URL are needed")}
	}
	answer := &report.Outbox{}
	if sends {
		client, err := newDeclarer(w, c.APIURL, key)
		if err != nil {
			return err
		}
		err = interruptible(ctx, func(ctx context.Context) error { return c.send(ctx, home, client, &answer.Sent) })
		if err != nil {
			return err
		}
	}
	err = w.ask(ctx, func(ctx context.Context, history *journal.Reader) (err error) {
		answer.Letters, err = history.Letters(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.answer(answer, c.JSON); err != nil {
		return err
	}
	if len(answer.Letters) > 0 {
		return exitCode(exitNegative)
	}
	return nil
}

func (c *flushCmd) send(ctx context.Context, home string, client *outbox.Client, sent **report.Sent) error {
	box, err := journal.OpenOutbox(home)
	if err != nil {
		return err
	}
	defer box.Close() // all that it did is committed
	drain := outbox.Drain{
		To: client, Timeout: time.Duration(c.Timeout), Early: true, Undeliverable: c.Retry, AnyKey: c.AnyKey,
	}
	// A recorder that was killed while it was sending holds the others up for
	// as long as it may.
	patience := outbox.LeaseSpan(time.Duration(c.Timeout)) + time.Second
	for began := time.Now(); ; {
		done, err := drain.Run(ctx, box)
		if !errors.Is(err, outbox.ErrBusy) {
			*sent = &report.Sent{Declared: done.Declared, Undeliverable: done.Undeliverable, Others: done.Others, Stopped: done.Why}
			return err
		}
		if time.Since(began) > patience {
			return fmt.Errorf("send what is in the outbox: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}
