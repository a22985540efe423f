package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

// world is what a command may touch: main fills it in, tests fill in another.
type world struct {
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	clock    terminal.Clock
	progress *terminal.Progress
	style    terminal.Style
	asks     bool   // a person sits at stdin who can answer a question
	shows    bool   // stdout is a terminal, which acts on what is written to it
	home     string // --home as given; see folder
}

// folder is the folder of the journal: --home, else $DEED_HOME, else ~/.deed.
func (w *world) folder() (string, error) {
	if w.home != "" {
		return filepath.Abs(w.home)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", &misuse{terminal.WithHint(fmt.Errorf("find your home folder: %w", err), "name a folder: deed --home DIR …")}
	}
	return filepath.Join(user, ".deed"), nil
}

// view is how whoever reads standard output wants to see answers.
func (w *world) view() report.View { return report.View{Clock: w.clock, Style: w.style} }

// answer prints one answer, as text or as a JSON document.
func (w *world) answer(a interface {
	Text(report.View) string
	Document() any
}, asJSON bool,
) error {
	if asJSON {
		return report.WriteJSON(w.stdout, a.Document())
	}
	return w.print(a.Text(w.view()))
}

func (w *world) print(text string) error {
	_, err := io.WriteString(w.stdout, text)
	return err
}

// since reads a --since as the journal counts time; an empty one is 0.
func (w *world) since(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	at, err := w.clock.Since(text)
	if err != nil {
		return 0, &misuse{err}
	}
	return at.UnixMicro(), nil
}

// before reads a --before as the journal counts time; an empty one is 0.
func (w *world) before(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	at, err := w.clock.Before(text)
	if err != nil {
		return 0, &misuse{err}
	}
	return at.UnixMicro(), nil
}

// homeFlag is --home, wherever it stands on the line.
type homeFlag string

// versionFlag prints the version and stops.
type versionFlag bool

// BeforeReset runs before any other flag is looked at, so that deed --version
// answers whatever else stands on the line.
func (versionFlag) BeforeReset(app *kong.Kong, w *world) error {
	fmt.Fprintln(w.stdout, "deed "+buildVersion().String())
	app.Exit(exitOK)
	return nil
}
