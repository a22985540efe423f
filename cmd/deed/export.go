package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type exportCmd struct {
	File string `arg:"" optional:"" default:"-" help:"Where to write; - is standard output."`
	scopeFlags
	Bodies bool `help:"Also what was kept of each message."`
	Force  bool `help:"Write over a file that is there."`
}

// Help is printed under the flags of deed export --help.
func (exportCmd) Help() string {
	return `Example:
    deed export october.jsonl --since 2026-10-01
    deed export - --session 6d4e47f7 | jq -r 'select(.kind == "entry").entry.kind'

Everything as JSON, one document a line: a head, the sessions, the gaps, then
every entry of the log with the exact text that the log hashes and what was
read for it, and an end, without which an export is not whole. With --bodies
each entry is followed by what was kept of its message, as text where it is
UTF-8 and as Base64 where it is not. Salts stay in the journal: with them,
values that were erased or replaced could be guessed.

A file appears under its name when it is whole, and not before.`
}

func (c *exportCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	query := report.ExportQuery{
		Scope: scope, Bodies: c.Bodies, Version: buildVersion().Version,
		Progress: func(done, total int64) { w.progress.Tell("exported", done, total) },
	}
	defer w.progress.Clear()
	return w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		write := func(to io.Writer) (report.ExportEnd, error) {
			buffered := bufio.NewWriterSize(to, 1<<16)
			end, err := report.Export(ctx, reader, w.clock, query, buffered)
			return end, errors.Join(err, flushUnless(err, buffered))
		}
		if c.File == "-" {
			_, err := write(w.stdout)
			return err
		}
		end, err := writeWhole(c.File, c.Force, write)
		if err != nil {
			return err
		}
		w.progress.Clear()
		return w.print(fmt.Sprintf("exported %s to %s\n", end.Text(), terminal.Clean(c.File)))
	})
}

// flushUnless writes the rest of what was buffered. After an error there is
// nothing that the rest would be good for.
func flushUnless(failed error, buffered *bufio.Writer) error {
	if failed != nil {
		return nil
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

// fileExistsError says that a file would be written over.
func fileExistsError(name string) error {
	return &misuse{terminal.WithHint(fmt.Errorf("%s is there already", name), "give another name, or write over it with --force")}
}

// writeWhole has a file written beside its place and then moved there, so
// that under its name there is never half of one.
func writeWhole[T any](name string, replace bool, write func(io.Writer) (T, error)) (end T, err error) {
	there, err := os.Lstat(name)
	switch {
	case err == nil && !there.Mode().IsRegular():
		// A rename would put a file in the place of a device or a link.
		return end, &misuse{terminal.WithHint(fmt.Errorf("%s is there and is no ordinary file", name), "give another name, or - for standard output")}
	case err == nil && !replace:
		return end, fileExistsError(name)
	}
	beside, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return end, &misuse{terminal.WithHint(fmt.Errorf("write the export: %w", err), "give a file in a folder that you can write")}
	}
	defer func() {
		if err != nil {
			_ = beside.Close()           // it may be closed
			_ = os.Remove(beside.Name()) // nobody will miss it
		}
	}()
	if end, err = write(beside); err != nil {
		return end, err
	}
	if err := errors.Join(beside.Sync(), beside.Close()); err != nil {
		return end, fmt.Errorf("write the export: %w", err)
	}
	return end, moveTo(beside.Name(), name, replace)
}

// moveTo gives a file its name. A link never takes the place of what somebody
// else put there meanwhile; where a file system knows none, a rename must do.
func moveTo(from, to string, replace bool) error {
	if !replace {
		err := os.Link(from, to)
		switch {
		case err == nil:
			return os.Remove(from)
		case errors.Is(err, fs.ErrExist):
			return fileExistsError(to)
		}
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
