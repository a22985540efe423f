package main

import (
	"fmt"
	"io"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/verdict"
)

// history is what was recorded: what agents declared, what the systems of
// record say, and how complete they are.
type history struct {
	actions []verdict.Declaration
	facts   []evidence.Fact
	sources []evidence.Source
}

// readHistory reads the files of a history; one without a name has nothing in
// it. Members of actions that it does not know are named on stderr.
func readHistory(w *world, actions, facts, watermarks string) (*history, error) {
	h := &history{}
	err := read(actions, func(name string, r io.Reader) (err error) {
		var warnings []string
		h.actions, warnings, err = docket.ReadActions(name, r)
		for _, warning := range warnings {
			fmt.Fprintf(w.stderr, "deed: %s\n", terminal.Clean(name+": "+warning))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := read(facts, func(name string, r io.Reader) (err error) { h.facts, err = docket.ReadFacts(name, r); return err }); err != nil {
		return nil, err
	}
	return h, read(watermarks, func(name string, r io.Reader) (err error) { h.sources, err = docket.ReadSources(name, r); return err })
}
