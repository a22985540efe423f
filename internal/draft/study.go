package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// study is one proposal in the making.
type study struct {
	in      Input
	actions []*action // by start
	facts   []*evidence.Fact
	from    value.Instant // the start of the first action
	to      value.Instant // and of the last
	sources map[string]*evidence.Source

	byRef     map[string]map[string][]*evidence.Fact // by name and value
	bySubject map[string][]*evidence.Fact

	params []*param
	rules  []contract.Link
	basis  []*action
	steps  []*step
	caps   []limit

	stats    Statistics
	warnings []Warning
	// contract is as far as it is known what the actions are linked by.
	contract *contract.Contract
}

// action is a declaration and the facts that belong to it.
type action struct {
	first    verdict.Declaration
	claimant engine.Claimant
	events   []linked
	params   map[string]value.Value // typed
}

// linked is a fact that belongs to an action.
type linked struct {
	fact  *evidence.Fact
	keyed bool
}

func (s *study) warn(code, format string, args ...any) {
	s.warnings = append(s.warnings, Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// newStudy chooses what counts and puts it into one order.
func newStudy(in Input) *study {
	s := &study{
		in: in, sources: map[string]*evidence.Source{},
		byRef: map[string]map[string][]*evidence.Fact{}, bySubject: map[string][]*evidence.Fact{},
	}
	if in.Contract != nil && in.ActionType == "" && in.ContractID == "" {
		s.in.ContractID = in.Contract.ID
	}
	first := map[string]*verdict.Declaration{}
	for i := range in.Actions {
		d := &in.Actions[i]
		if d.ReceivedAt > in.At {
			continue
		}
		if known := first[d.ActionID]; known == nil || compareDeclarations(d, known) < 0 {
			first[d.ActionID] = d
		}
	}
	for _, id := range slices.Sorted(maps.Keys(first)) {
		d := first[id]
		if (s.in.ActionType == "" || d.ActionType == s.in.ActionType) && (s.in.ContractID == "" || d.ContractID == s.in.ContractID) {
			s.actions = append(s.actions, &action{first: *d})
		}
	}
	slices.SortStableFunc(s.actions, func(a, b *action) int { return cmp.Compare(a.first.Start(), b.first.Start()) })
	for i := range in.Sources {
		s.sources[in.Sources[i].Name] = &in.Sources[i]
	}
	s.takeFacts()
	s.stats.Actions = len(s.actions)
	if len(s.actions) > 0 {
		s.from, s.to = s.actions[0].first.Start(), s.actions[len(s.actions)-1].first.Start()
		s.stats.From, s.stats.To = s.from.String(), s.to.String()
	}
	return s
}

// takeFacts keeps the current revision of every event that a contract can name.
func (s *study) takeFacts() {
	snapshots, unnamed := 0, 0
	for _, r := range evidence.Current(s.in.Facts, s.in.At) {
		f := r.Fact
		switch {
		case f.Retracted:
			continue
		case f.Mode == evidence.State:
			snapshots++
			continue
		case !isFactType(f.Type) || !isName(f.Source) || f.Source == "none":
			unnamed++
			continue
		}
		s.facts = append(s.facts, f)
		for name, v := range f.Refs {
			if s.byRef[name] == nil {
				s.byRef[name] = map[string][]*evidence.Fact{}
			}
			s.byRef[name][v] = append(s.byRef[name][v], f)
		}
		if f.SubjectID != "" {
			s.bySubject[f.SubjectID] = append(s.bySubject[f.SubjectID], f)
		}
	}
	if snapshots > 0 {
		s.warn("snapshots", "%s how something stood; they were left out, and a `state` check is for you to write", counted(snapshots, "fact says", "facts say"))
	}
	if unnamed > 0 {
		s.warn("unnamed_facts", "%s a type or a source that no contract can name, and were left out", counted(unnamed, "fact has", "facts have"))
	}
}

// compareDeclarations puts the revisions of one action into an order that does
// not depend on how they came.
func compareDeclarations(a, b *verdict.Declaration) int {
	return cmp.Or(
		cmp.Compare(a.ReceivedAt, b.ReceivedAt), cmp.Compare(a.RequestedAt, b.RequestedAt),
		strings.Compare(a.ContractID, b.ContractID), strings.Compare(a.ActionType, b.ActionType),
		strings.Compare(a.SubjectKind, b.SubjectKind), strings.Compare(a.SubjectID, b.SubjectID),
		strings.Compare(a.AgentID, b.AgentID), strings.Compare(a.WorkflowID, b.WorkflowID),
		strings.Compare(paramText(a), paramText(b)),
	)
}

func paramText(d *verdict.Declaration) string {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		b = value.AppendString(b, name)
		if written, err := d.Params[name].AppendJSON(b); err == nil {
			b = written
		}
	}
	return string(b)
}

// keyText is a value as a fact's key would have it, or empty.
func keyText(v value.Value) string {
	if d := v.Decimal(); v.Kind() == value.Decimal && d.IsInteger() {
		return money.Text(d.Truncate(0))
	}
	return v.Text()
}

// share says whether n of all are at least a percentage.
func share(n, all, percent int) bool { return all > 0 && n*100 >= all*percent }

// nearestRank is the index of a percentile in n sorted values: the smallest
// value that so many percent of them do not exceed.
func nearestRank(n, percent int) int { return max((n*percent+99)/100, 1) - 1 }

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// The forms that the contract language asks of names.
func formed(s, besides string, longest int) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(besides, c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= longest
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isName(s string) bool { return formed(s, "_-", 64) && isLetter(s[0]) }

func isIdentifier(s string) bool {
	return formed(s, "_", 64) && (isLetter(s[0]) || s[0] == '_') && s != "in" && s != "true" && s != "false" && s != "null"
}

func isFactType(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !formed(part, "_-", 64) {
			return false
		}
	}
	return len(s) <= 128
}

// named turns a text into a name: what may not stand in one becomes _.
func named(s, besides string) string {
	b := []byte(s)
	for i, c := range b {
		if !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte(besides, c) < 0 {
			b[i] = '_'
		}
	}
	if len(b) == 0 || !isLetter(b[0]) {
		b = append([]byte("c_"), b...)
	}
	return string(b[:min(len(b), 64)])
}
