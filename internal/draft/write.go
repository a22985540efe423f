package draft

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// writer writes YAML with comments.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// comment writes lines of comments, each of at most 96 characters.
func (w *writer) comment(indent, format string, args ...any) {
	line := ""
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if line != "" && len(line)+1+len(word) > 94-len(indent) {
			w.line("%s# %s", indent, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	w.line("%s# %s", indent, line)
}

var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// scalar writes any text so that YAML reads a text.
func scalar(s string) string {
	if plainScalar.MatchString(s) {
		switch strings.ToLower(s) {
		case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		default:
			return s
		}
	}
	return strconv.QuoteToASCII(s)
}

// expression writes a condition: as it is where YAML takes it so, else in single
// quotes.
func expression(s string) string {
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.ContainsAny(s, "{}[],'") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// write writes the proposal.
func (s *study) write() string {
	w := &writer{}
	s.writeHead(w)
	s.writeParams(w)
	w.line("settle: {after: %s}", span(s.settling()))
	s.writeSources(w)
	s.writeLinks(w)
	s.writeSteps(w)
	s.writeLimits(w)
	for _, st := range s.steps {
		if st.amount != "" {
			w.line("\nverified_amount: {step: %s, of: fact.%s}", st.id, st.amount)
			break
		}
	}
	w.line("\nnot_checked:\n  - what must never happen, which no record of what did happen shows\n  - who must have agreed before\n  - whether what was usual was right")
	return w.String()
}

func (s *study) writeHead(w *writer) {
	id := "draft"
	switch {
	case s.in.Contract != nil:
		id = s.in.Contract.ID
	case s.in.ContractID != "":
		id = named(s.in.ContractID, "_-.")
	case s.in.ActionType != "":
		id = named(s.in.ActionType, "_-.")
	}
	w.comment("", "DRAFT. Proposed from what was recorded; nobody has read it yet. Read every line, and take this comment out when you stand for it.")
	w.line("#")
	w.comment("", "%s from %s to %s; %d of them with a fact that belongs to them.",
		counted(len(s.actions), "action", "actions"), s.stats.From, s.stats.To, s.stats.Seen)
	if s.stats.Basis == "passed" {
		w.comment("", "What is usual is drawn from the %d that have a settled PASS.", s.stats.Based)
	}
	if len(s.warnings) > 0 {
		w.line("#")
		for _, warning := range s.warnings {
			w.comment("", "! %s.", warning.Text)
		}
	}
	w.line("\ncontract: %s", scalar(id))
	w.line("title: %s", scalar("Draft of "+id))
	if applies := s.applies(); applies != "" {
		w.line("applies_to: {%s}", applies)
	}
	w.line("")
}

// applies names what all actions have in common.
func (s *study) applies() string {
	var parts []string
	for _, of := range []struct {
		key string
		get func(*action) string
	}{
		{"action_type", func(a *action) string { return a.first.ActionType }},
		{"subject_kind", func(a *action) string { return a.first.SubjectKind }},
	} {
		first := of.get(s.actions[0])
		if strings.TrimSpace(first) != "" && len(first) <= 200 && !slices.ContainsFunc(s.actions, func(a *action) bool { return of.get(a) != first }) {
			parts = append(parts, of.key+": "+scalar(first))
		}
	}
	return strings.Join(parts, ", ")
}

func (s *study) writeParams(w *writer) {
	if len(s.params) == 0 {
		return
	}
	w.line("params:")
	for _, p := range s.params {
		keys := []string{"type: " + string(p.declared.Type)}
		switch {
		case p.declared.Currency != "":
			keys = append(keys, "currency: "+p.declared.Currency)
		case p.declared.Fixed != "":
			keys = append(keys, "currency: "+string(p.declared.Fixed))
		}
		if p.declared.Minor {
			keys = append(keys, "unit: minor")
		}
		if p.declared.Required {
			keys = append(keys, "required: true")
		}
		w.line("  %s: {%s}  # %s", p.name, strings.Join(keys, ", "), s.valuesOf(p))
	}
	w.line("")
}

// valuesOf says how often a parameter was there, and what it was where that is
// one of a few words.
func (s *study) valuesOf(p *param) string {
	text := fmt.Sprintf("in %d of %d", p.present, len(s.actions))
	if p.declared.Type != contract.StringParam && p.declared.Type != contract.CurrencyParam || len(p.values) > 6 {
		return text + fmt.Sprintf(", %s", counted(len(p.values), "value", "values"))
	}
	values := slices.Collect(maps.Keys(p.values))
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(p.values[b], p.values[a]), strings.Compare(a, b)) })
	for _, v := range values {
		if p.values[v] < 3 {
			return text + fmt.Sprintf(", %s", counted(len(values), "value", "values")) // too rare to be one of a few words
		}
	}
	for i, v := range values {
		word, _ := strconv.Unquote(v)
		if len(word) > 24 || !plainScalar.MatchString(word) {
			return text + fmt.Sprintf(", %s", counted(len(values), "value", "values"))
		}
		values[i] = fmt.Sprintf("%s (%d)", word, p.values[v])
	}
	return text + ": " + strings.Join(values, ", ")
}

func (s *study) writeSources(w *writer) {
	w.line("sources:")
	written := map[string]bool{}
	for _, st := range s.steps {
		name := st.effect.Source
		if written[name] {
			continue
		}
		written[name] = true
		if trust := s.trust(name); trust != evidence.NoTrust {
			w.line("  %s: {trust: %s}", name, trust)
		} else {
			w.line("  %s: {trust: asserted}  # a guess: nothing is known of this source", name)
		}
	}
	w.line("")
}

func (s *study) writeLinks(w *writer) {
	w.line("link:")
	for _, l := range s.stats.Links {
		if l.Proposed {
			w.line("  - %s  # reaches %d of %d actions", l.Rule, l.Actions, len(s.actions))
		} else if l.Actions > 0 {
			w.line("  # not proposed: %s, which reaches %d of %d actions", l.Rule, l.Actions, len(s.actions))
		}
	}
	w.line("")
}

func (s *study) writeSteps(w *writer) {
	w.line("steps:")
	for _, st := range s.steps {
		e := st.effect
		w.comment("  ", "%d of %d actions have one, %d of them exactly one, the most %d. The first comes after %s in the middle, %s in 99 of 100, %s at the longest.",
			e.Actions, len(s.basis), e.Single, e.Most, delay(e.MedianUS), delay(e.HighUS), delay(e.LongestUS))
		for _, c := range st.where {
			w.comment("  ", "%s: of %d of %d.", c.text, c.holds, c.of)
		}
		w.line("  - id: %s\n    expect: %s\n    from: %s", st.id, scalar(e.Type), scalar(e.Source))
		if len(st.where) > 0 {
			w.line("    where: %s", expression(st.condition()))
		}
		if st.count > 0 {
			w.line("    count: %d", st.count)
		}
		w.line("    within: %s", span(st.within))
	}
	for _, e := range s.stats.Effects {
		if !e.Proposed {
			w.comment("  ", "not proposed: %s of %s, which follows %d of %d actions.", e.Type, e.Source, e.Actions, len(s.basis))
		}
	}
}

func (s *study) writeLimits(w *writer) {
	if len(s.caps) == 0 {
		return
	}
	w.line("\nlimits:")
	for _, l := range s.caps {
		w.comment("  ", "99 of 100 among %d actions; the middle one %s, the highest %s.", l.stats.Actions, l.stats.Median, l.stats.Highest)
		w.line("  - id: %s", l.id)
		if l.when != "" {
			w.line("    when: %s", expression(l.when))
		}
		switch {
		case !l.rolling:
			w.line("    check: %s", expression(l.check))
		case l.total != "":
			w.line("    total: %s\n    max: %s\n    over: 24h\n    per: agent_id", l.total, l.max)
		default:
			w.line("    count: true\n    max: %s\n    over: 24h\n    per: agent_id", l.max)
		}
	}
}

// span writes a window as contracts do.
func span(d time.Duration) string {
	switch {
	case d > 3*day && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// delay writes how long something took, in its two largest units.
func delay(us int64) string {
	seconds := us / 1_000_000
	if seconds == 0 {
		return "less than 1s"
	}
	text, written := "", 0
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{86_400, "d"}, {3_600, "h"}, {60, "m"}, {1, "s"}} {
		if n := seconds / unit.seconds; n > 0 && written < 2 {
			text += strconv.FormatInt(n, 10) + unit.name
			written++
		} else if written > 0 {
			written++
		}
		seconds %= unit.seconds
	}
	return text
}
