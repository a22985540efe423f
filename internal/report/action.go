package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// ActionsDocument says what became of the actions that a session declared.
type ActionsDocument struct {
	Begun           int64                `json:"begun"`            // calls whose action was to be declared
	Declared        int64                `json:"declared"`         // before the call went on
	Failed          int64                `json:"failed"`           // the call went on without
	Refused         int64                `json:"refused"`          // the call was kept from the server
	Waiting         int64                `json:"waiting"`          // still in the outbox
	Undeliverable   int64                `json:"undeliverable"`    // in the outbox, and not sent any more
	Undeclarable    int64                `json:"undeclarable"`     // mapped calls that cannot be declared
	UndeclarableWhy []UndeclaredDocument `json:"undeclarable_why"` // most frequent first
}

// UndeclaredDocument is mapped calls of one tool that cannot be declared.
type UndeclaredDocument struct {
	Tool    string  `json:"tool"`      // that was called
	Why     string  `json:"why"`       // a word; docs/gate.md lists them
	Path    string  `json:"path"`      // where in the params
	Refused bool    `json:"refused"`   // they were kept from the server
	Count   int64   `json:"count"`     // how often
	Last    *string `json:"last_call"` // what deed show takes
}

func (l *Last) actionsDocument() *ActionsDocument {
	t := l.totals.Intents
	if t == (journal.IntentTotals{}) {
		return nil
	}
	d := &ActionsDocument{
		Begun: t.Begun, Declared: t.Declared, Failed: t.Failed, Refused: t.Refused,
		Waiting: t.Waiting, Undeliverable: t.Undeliverable, Undeclarable: t.Undeclarable,
		UndeclarableWhy: []UndeclaredDocument{},
	}
	for _, u := range l.undeclared {
		one := UndeclaredDocument{Tool: u.Tool, Why: u.Why, Path: u.Path, Refused: u.Refused, Count: u.Count}
		if id := l.callID(u); id != "" {
			one.Last = &id
		}
		d.UndeclarableWhy = append(d.UndeclarableWhy, one)
	}
	return d
}

// callID is the id of the newest of calls that could not be declared.
func (l *Last) callID(u journal.Undeclared) string {
	if u.Last <= 0 {
		return ""
	}
	return fmt.Sprintf("%s.%d", l.short, u.Last)
}

// actionsText says what became of declared actions, and why some calls have none.
func (l *Last) actionsText(view View) string {
	t := l.totals.Intents
	var parts []string
	bad := false
	add := func(n int64, what string, isBad bool) {
		if n > 0 {
			parts, bad = append(parts, terminal.Count(n)+" "+what), bad || isBad
		}
	}
	add(t.Declared, "declared", false)
	add(t.Failed, "not declared before the call went on", true)
	add(t.Waiting, "in the outbox", true)
	add(t.Undeliverable, "undeliverable", true)
	add(t.Refused, "refused", true)
	add(t.Undeclarable, "could not be declared", true)
	if len(parts) == 0 {
		return ""
	}
	line := "actions: " + strings.Join(parts, ", ")
	if bad {
		line = view.Style.Warn(line)
	}
	return line + "\n" + l.undeclaredText(view)
}

func (l *Last) undeclaredText(view View) string {
	if len(l.undeclared) == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Right: true}, {Max: nameWidth}, {Max: whyWidth}, {}}}
	for i, u := range l.undeclared {
		if i == listedMost {
			break
		}
		why := undeclarableMeaning(u.Why, u.Path)
		if u.Refused {
			why += "; refused"
		}
		table.Add(terminal.Text(terminal.Count(u.Count)+"x"), terminal.Text(orNone(u.Tool)),
			terminal.Cell{Text: why, Paint: view.Style.Bad}, terminal.Cell{Text: l.callID(u), Paint: view.Style.Faint})
	}
	return "\n" + view.Style.Bad("calls that could not be declared") + "\n" + table.String()
}

// undeclarable are the words for why a call cannot be declared.
var undeclarable = map[string]string{
	"no_request_id":      "it has no request id",
	"subject_absent":     "it has no subject",
	"placeholder_absent": "the action id needs what it does not have",
	"not_scalar":         "an object or a list stands where a text belongs",
	"key_twice":          "a key stands in it twice",
	"unreadable":         "its params cannot be read",
	"too_long":           "something in it is longer than the server takes",
	"action_id_refused":  "its action id is none that the server takes",
	"line_too_long":      "its line is longer than 64 MiB",
}

func undeclarableMeaning(word, path string) string {
	meaning, known := undeclarable[word]
	if !known {
		meaning = orNone(strings.ReplaceAll(word, "_", " "))
	}
	if path != "" {
		meaning += " (" + path + ")"
	}
	return meaning
}

// intentMeanings say what the reason of an intent means to a reader.
var intentMeanings = map[string]string{
	entry.IntentDeclaring:     "the action is about to be declared",
	entry.IntentRequired:      "the action is about to be declared, and the call waits for it",
	entry.IntentUndeclarable:  "the call cannot be declared",
	entry.IntentDeclared:      "the server has it",
	entry.IntentFailed:        "not declared; the call went on, and it is sent again later",
	entry.IntentUndeliverable: "not declared, and not sent any more",
	entry.IntentRefused:       "not declared, and the call was kept from the server",
}

// addIntent adds what an intent says.
func addIntent(table *terminal.Table, record journal.Record, view View) {
	reason := record.Entry.Reason
	meaning, known := intentMeanings[reason]
	if !known {
		meaning = strings.ReplaceAll(reason, "_", " ")
	}
	paint := view.Style.Warn
	if slices.Contains([]string{entry.IntentDeclaring, entry.IntentRequired, entry.IntentDeclared}, reason) {
		paint = nil
	}
	table.Add(terminal.Text("intent"), terminal.Cell{Text: meaning, Paint: paint})
	if record.Detail == nil || record.Detail.Declaration == nil {
		return
	}
	d := record.Detail.Declaration
	for _, row := range []struct{ name, text string }{
		{"action", d.Action},
		{"contract", d.Contract},
		{"subject", d.Subject},
		{"declared to", d.API},
		{"recorded", d.Recorded},
	} {
		if row.text != "" {
			table.Add(terminal.Text(row.name), terminal.Text(row.text))
		}
	}
	switch {
	case reason == entry.IntentUndeclarable:
		table.Add(terminal.Text("why"), terminal.Text(undeclarableMeaning(d.Why, d.Path)))
	case d.Why != "":
		table.Add(terminal.Text("why"), terminal.Text(d.Why))
	}
	if d.Again > 0 {
		table.Add(terminal.Text("sent again"), terminal.Text(view.Clock.Exact(terminal.Micros(d.Again))))
	}
}
