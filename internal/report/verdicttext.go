package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Text is a block for each action, the worst first: what it came to, why each
// check came to what it did, and what it waits for. What nobody claims stands
// at the end.
func (v *Verdicts) Text(view View) string {
	var b strings.Builder
	for _, one := range v.ordered() {
		v.action(&b, &one, view)
		b.WriteByte('\n')
	}
	if len(v.Orphans) > 0 {
		v.orphans(&b, view)
		b.WriteByte('\n')
	}
	b.WriteString(v.summary() + "\n")
	return b.String()
}

func (v *Verdicts) summary() string {
	if len(v.Verdicts) == 0 {
		return "no action had been declared"
	}
	counts := map[verdict.Result]int64{}
	for i := range v.Verdicts {
		counts[v.Verdicts[i].Badge]++
	}
	text := terminal.Plural(int64(len(v.Verdicts)), "action") + ":"
	for i, r := range []verdict.Result{verdict.Fail, verdict.Unknown, verdict.Pass} {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %d %s", counts[r], r)
	}
	if len(v.Orphans) > 0 {
		text += fmt.Sprintf("; %s that no action claims", terminal.Plural(int64(len(v.Orphans)), "effect"))
	}
	return text
}

// paint colours a result. The word itself says the same.
func (v View) paint(r verdict.Result) func(string) string {
	switch r {
	case verdict.Pass:
		return v.Style.Good
	case verdict.Fail:
		return v.Style.Bad
	case verdict.Unknown:
		return v.Style.Warn
	}
	return v.Style.Faint
}

func (v *Verdicts) action(b *strings.Builder, one *verdict.Verdict, view View) {
	fmt.Fprintf(b, "%s  %s  %s\n", view.paint(one.Badge)(string(one.Badge)), view.Style.Strong(terminal.Clean(one.ActionID)),
		terminal.Clean(standing(one, view)))
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{}, {}, {}}}
	lens := func(name string, l verdict.Lens) {
		table.Add(terminal.Text(name), terminal.Cell{Text: string(l.Result), Paint: view.paint(l.Result)}, terminal.Text(labels(l.Codes)))
		for i := range one.Checks {
			if check := &one.Checks[i]; check.Lens == name {
				table.Add(terminal.Text("  "+check.ID), terminal.Cell{Text: string(check.Result), Paint: view.paint(check.Result)}, terminal.Text(reasons(check)))
			}
		}
	}
	lens(verdict.OutcomeLens, one.Outcome)
	lens(verdict.ConformanceLens, one.Conformance)
	b.WriteString(table.String())
	for _, line := range v.below(one, view) {
		fmt.Fprintf(b, "  %s\n", terminal.Clean(line))
	}
}

// standing says which contract governs and how final the verdict is.
func standing(one *verdict.Verdict, view View) string {
	parts := []string{"no contract"}
	if one.ContractID != "" {
		parts[0] = one.ContractID
	}
	if one.ContractVersion > 0 {
		parts[0] += fmt.Sprintf(" version %d", one.ContractVersion)
	}
	if one.Mode == verdict.Shadow {
		parts = append(parts, "shadow")
	}
	switch {
	case one.Status == verdict.Provisional && one.Decided:
		parts = append(parts, "decided, settles "+view.instant(one.SettlesAt))
	case one.Status == verdict.Provisional:
		parts = append(parts, "provisional, settles "+view.instant(one.SettlesAt))
	default:
		parts = append(parts, fmt.Sprintf("%s %s", one.Status, view.instant(one.SettledAt)))
	}
	return strings.Join(parts, ", ")
}

// label is a code in words.
func label(code verdict.Code) string {
	entry, known := verdict.Lookup(code)
	if !known {
		return string(code)
	}
	return entry.Label
}

func labels(codes []verdict.Code) string {
	words := make([]string, len(codes))
	for i, code := range codes {
		words[i] = label(code)
	}
	return strings.Join(words, "; ")
}

// reasons says in words why a check came to its result, and what that is about.
func reasons(check *verdict.Check) string {
	words := make([]string, len(check.Reasons))
	for i, r := range check.Reasons {
		words[i] = because(r)
	}
	return strings.Join(words, "; ")
}

func because(r verdict.Reason) string {
	text := label(r.Code)
	var about []string
	if thing := strings.TrimSpace(r.Source + " " + r.Fact); thing != "" {
		about = append(about, thing)
	}
	if r.About != "" {
		about = append(about, r.About)
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return text
}

// below is what stands under the checks.
func (v *Verdicts) below(one *verdict.Verdict, view View) []string {
	var lines []string
	if one.VerifiedAmount != nil {
		lines = append(lines, "seen and verified: "+one.VerifiedAmount.String())
	}
	if c := one.Compensation; c != nil {
		lines = append(lines, compensation(c)...)
	}
	for _, note := range one.Notes {
		lines = append(lines, "note: "+because(note))
	}
	for _, wait := range one.Waits {
		lines = append(lines, waiting(wait, view))
	}
	if v.Detailed {
		lines = append(lines, details(one, view)...)
	}
	return lines
}

func compensation(c *verdict.Compensation) []string {
	var lines []string
	if c.Of != "" {
		lines = append(lines, "undoes "+c.Of)
	}
	for _, by := range c.By {
		lines = append(lines, fmt.Sprintf("undone by %s of %s: %s, %s", by.ActionID, by.ContractID, by.Outcome, by.Status))
	}
	if c.Net != nil {
		lines = append(lines, "net effect: "+c.Net.String())
	}
	return lines
}

func waiting(w verdict.Wait, view View) string {
	text := fmt.Sprintf("waits for %s to be complete for %s up to %s; ", w.Source, w.Type, view.instant(w.Until))
	if w.Watermark == 0 {
		return text + "it never said how far it is"
	}
	return text + "it is to " + view.instant(w.Watermark)
}

// details are what the reasons that are no PASS mean and ask for, and the
// evidence that each check looked at.
func details(one *verdict.Verdict, view View) []string {
	var lines []string
	told := map[verdict.Code]bool{}
	explain := func(code verdict.Code) {
		entry, known := verdict.Lookup(code)
		if !known || told[code] || entry.Next == "Nothing." {
			return
		}
		told[code] = true
		lines = append(lines, fmt.Sprintf("%s: %s", code, entry.Explanation), "  next: "+entry.Next)
	}
	for _, l := range []verdict.Lens{one.Outcome, one.Conformance} {
		for _, code := range l.Codes {
			explain(code)
		}
	}
	for i := range one.Checks {
		if one.Checks[i].Result != verdict.Pass {
			for _, r := range one.Checks[i].Reasons {
				explain(r.Code)
			}
		}
	}
	for _, note := range one.Notes {
		explain(note.Code)
	}
	for i := range one.Checks {
		check := &one.Checks[i]
		for _, seen := range check.Seen {
			lines = append(lines, sighting(check.ID, &seen, view))
		}
	}
	lines = append(lines, "case "+one.Case)
	return lines
}

func sighting(checkID string, seen *verdict.Seen, view View) string {
	link := "not linked"
	if seen.Link != "" {
		link = "linked by " + seen.Link
	}
	return fmt.Sprintf("evidence for %s: %s %s %s at %s, %s, %s", checkID, seen.Source, seen.Type, seen.ExternalID,
		view.instant(seen.OccurredAt), strings.ReplaceAll(string(seen.Role), "_", " "), link)
}

func (v *Verdicts) orphans(b *strings.Builder, view View) {
	b.WriteString(view.Style.Warn("effects that no action claims") + "\n")
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{}, {}, {}, {}, {}, {}}}
	for _, o := range v.Orphans {
		f := &o.Fact
		actor := ""
		if f.Actor() != "" {
			actor = "by " + f.Actor()
		}
		table.Add(terminal.Text(view.instant(f.OccurredAt)), terminal.Text(f.Source), terminal.Text(f.Type), terminal.Text(f.ExternalID),
			terminal.Text(strings.Trim(f.SubjectKind+" "+f.SubjectID, " ")), terminal.Text(strings.TrimSpace(amounts(f)+" "+actor)))
	}
	b.WriteString(table.String())
}

// amounts are the amounts that a fact carries.
func amounts(f *evidence.Fact) string {
	if v := f.Attrs["amount"]; v.Kind() == value.Money {
		return v.Amount().String()
	}
	return ""
}
