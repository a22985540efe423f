package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/client"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type actionList struct {
	Actions []client.Declared `json:"actions"`
	Next    string            `json:"next_cursor"`
}

// Actions is a page of actions with their verdicts.
func Actions(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, body actionList) string {
		text := table(view, "no actions", len(body.Actions), columns("verdict", "status", "action", "contract", "subject", "declared", "in words"), func(i int) []terminal.Cell {
			a := &body.Actions[i]
			v := &a.Verification
			badge := terminal.Cell{Text: string(v.Badge), Paint: paint(view, v.Badge)}
			return append([]terminal.Cell{badge}, cells(string(v.Status), a.Action.ID, or(a.Action.ContractID, "-"),
				or(a.Action.SubjectID, "-"), moment(view, a.Action.ReceivedAt), v.Summary.Headline)...)
		})
		return text + more(body.Next)
	})
}

// more says how a list goes on.
func more(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("there are more: --cursor %s\n", terminal.Clean(cursor))
}

func paint(view report.View, r client.Result) func(string) string {
	if r == client.Fail {
		return view.Style.Warn
	}
	return nil
}

// Action is one action: what was declared, the verdict, each check with its
// reasons, and what it waits for.
func Action(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, a client.Declared) string {
		var b strings.Builder
		v := &a.Verification
		say := func(format string, values ...any) {
			b.WriteString(terminal.Clean(fmt.Sprintf(format, values...)) + "\n")
		}
		if a.Recorded != "" {
			say("%s: %s", a.Recorded, a.Action.ID)
		} else {
			say("%s", a.Action.ID)
		}
		for _, w := range a.Warnings {
			say("  warning: %s", w.Message)
		}
		if v.Status == "" { // a changed declaration has no verification with it
			return b.String()
		}
		say("  %s", v.Summary.Headline)
		say("  outcome %s, conformance %s; %s, settles %s", v.Outcome.Result, v.Conformance.Result, v.Status, moment(view, v.SettlesAt))
		if len(v.Checks) > 0 {
			b.WriteString("\n")
			checks := terminal.Table{Heading: view.Style.Faint, Columns: columns("check", "lens", "result", "why"), Indent: 2}
			for i := range v.Checks {
				c := &v.Checks[i]
				result := terminal.Cell{Text: string(c.Result), Paint: paint(view, c.Result)}
				checks.Add(terminal.Text(c.ID), terminal.Text(c.Lens), result, terminal.Text(reasons(c.Reasons)))
			}
			b.WriteString(checks.String())
		}
		for _, w := range v.Waits {
			say("  waits for %s of %s up to %s%s", w.Type, w.Source, moment(view, w.Until), reached(view, w.Watermark))
		}
		for _, n := range v.Notes {
			say("  note: %s", reasons([]client.Reason{n}))
		}
		if v.Summary.Next != "" && v.Badge != client.Pass {
			say("  next: %s", v.Summary.Next)
		}
		if a.Links.Page != "" {
			say("  %s", a.Links.Page)
		}
		return b.String()
	})
}

func reached(view report.View, at time.Time) string {
	if at.IsZero() {
		return ", which has never said how complete it is"
	}
	return ", which is complete up to " + moment(view, at)
}

func reasons(all []client.Reason) string {
	var words []string
	for _, r := range all {
		text := r.Code
		if r.Label != "" {
			text = r.Label
		}
		if about := strings.Join(strings.Fields(r.Source+" "+r.Fact+" "+r.About), " "); about != "" {
			text += " (" + about + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

type summary struct {
	Period    struct{ From, To time.Time }
	Total     int64
	Contracts []struct {
		ContractID string `json:"contract_id"`
		Total      int64
		Badge      map[string]int64
		Status     map[string]int64
	}
}

// Summary counts actions by contract.
func Summary(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, s summary) string {
		return table(view, "no actions in this period", len(s.Contracts), columns("contract", ">actions", ">PASS", ">FAIL", ">UNKNOWN", ">not settled"), func(i int) []terminal.Cell {
			c := &s.Contracts[i]
			row := cells(or(c.ContractID, "(none)"), terminal.Count(c.Total), terminal.Count(c.Badge["PASS"]), terminal.Count(c.Badge["FAIL"]),
				terminal.Count(c.Badge["UNKNOWN"]), terminal.Count(c.Status["provisional"]+c.Status["recorded"]))
			if c.Badge["FAIL"] > 0 {
				row[3].Paint = view.Style.Warn
			}
			return row
		})
	})
}
