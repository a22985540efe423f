package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/weakening"
)

// ContractDiff is what differs between two versions of a contract, and what of
// the recorded actions would come to something else.
type ContractDiff struct {
	Old, New string // the files
	Changes  []weakening.Change
	// Replayed says that recorded actions were evaluated by both versions;
	// Actions counts them, and Flips are those that turn PASS.
	Replayed bool
	Actions  int
	Flips    []weakening.Flip
}

// Suspect says that somebody should look before the new version counts.
func (d *ContractDiff) Suspect() bool { return weakening.Suspect(d.Changes) || len(d.Flips) > 0 }

// Text is a line for each change, the weaker ones first, and then the actions
// that turn PASS.
func (d *ContractDiff) Text(view View) string {
	var b strings.Builder
	counts := map[weakening.Direction]int64{}
	for _, direction := range []weakening.Direction{weakening.Weaker, weakening.Unclear, weakening.Stronger, weakening.Different} {
		for _, c := range d.Changes {
			if c.Direction == direction {
				counts[direction]++
				writeChange(&b, c, view)
			}
		}
	}
	for _, f := range d.Flips {
		fmt.Fprintf(&b, "%s  %s: %s was %s and turns PASS\n", view.Style.Bad("turns"), terminal.Clean(f.ActionID), f.Lens, f.Was)
		for _, because := range f.Because {
			fmt.Fprintf(&b, "       %s %s: %s\n", terminal.Clean(because.Check), because.Result, labels(because.Codes))
		}
	}
	if len(d.Changes) == 0 {
		b.WriteString("nothing changed that a verdict depends on\n")
	} else {
		var parts []string
		for _, direction := range []weakening.Direction{weakening.Weaker, weakening.Unclear, weakening.Stronger, weakening.Different} {
			if counts[direction] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[direction], direction))
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", terminal.Plural(int64(len(d.Changes)), "change"), strings.Join(parts, ", "))
	}
	if d.Replayed {
		fmt.Fprintf(&b, "%s replayed: %s\n", terminal.Plural(int64(d.Actions), "action"), turns(len(d.Flips)))
	}
	return b.String()
}

func turns(n int) string {
	switch n {
	case 0:
		return "none turns PASS"
	case 1:
		return "1 answer turns PASS"
	}
	return fmt.Sprintf("%d answers turn PASS", n)
}

func writeChange(b *strings.Builder, c weakening.Change, view View) {
	word := string(c.Direction)
	switch c.Direction {
	case weakening.Weaker:
		word = view.Style.Bad(word)
	case weakening.Unclear:
		word = view.Style.Warn(word)
	case weakening.Stronger:
		word = view.Style.Good(word)
	}
	fmt.Fprintf(b, "%s  %s: %s\n", word, terminal.Clean(c.Where), terminal.Clean(c.Sentence))
	if c.Old != "" || c.New != "" {
		fmt.Fprintf(b, "       %s -> %s\n", written(c.Old), written(c.New))
	}
}

func written(s string) string {
	if s == "" {
		return "(none)"
	}
	return terminal.Clean(s)
}

// ContractDiffDocument is how two versions of a contract differ, as JSON.
type ContractDiffDocument struct {
	Kind     string              `json:"kind"`     // "contract_diff"
	Suspect  bool                `json:"suspect"`  // weaker, or not shown that it is not, or an action turns PASS
	Changes  []WeakeningDocument `json:"changes"`  // in the order of the language
	Replayed bool                `json:"replayed"` // recorded actions were evaluated by both versions
	Actions  int64               `json:"actions"`  // how many
	Turned   []TurnedDocument    `json:"turned"`   // what turns PASS
}

// TurnedDocument is an answer about an action that was not PASS and would be.
type TurnedDocument struct {
	ActionID string            `json:"action_id"` // as it was declared
	Lens     string            `json:"lens"`      // outcome or conformance
	Was      string            `json:"was"`       // FAIL or UNKNOWN
	Because  []BecauseDocument `json:"because"`   // what stood in the way
}

// BecauseDocument is a check that was not passed.
type BecauseDocument struct {
	Check  string   `json:"check"`  // its id; empty where none applied
	Result string   `json:"result"` // FAIL or UNKNOWN
	Codes  []string `json:"codes"`  // why, the deciding code first
}

// Document is the difference as JSON.
func (d *ContractDiff) Document() any {
	doc := ContractDiffDocument{
		Kind: "contract_diff", Suspect: d.Suspect(), Changes: weakeningDocuments(d.Changes),
		Replayed: d.Replayed, Actions: int64(d.Actions), Turned: []TurnedDocument{},
	}
	for _, f := range d.Flips {
		turned := TurnedDocument{ActionID: f.ActionID, Lens: f.Lens, Was: string(f.Was)}
		for _, because := range f.Because {
			codes := make([]string, len(because.Codes))
			for i, code := range because.Codes {
				codes[i] = string(code)
			}
			turned.Because = append(turned.Because, BecauseDocument{Check: because.Check, Result: string(because.Result), Codes: codes})
		}
		doc.Turned = append(doc.Turned, turned)
	}
	return doc
}

func weakeningDocuments(changes []weakening.Change) []WeakeningDocument {
	documents := make([]WeakeningDocument, 0, len(changes))
	for _, c := range changes {
		documents = append(documents, WeakeningDocument{
			What: string(c.What), Where: c.Where, Old: c.Old, New: c.New, Direction: string(c.Direction), Sentence: c.Sentence,
		})
	}
	return documents
}
