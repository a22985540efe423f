package scenario

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Expectation is what a verdict must be. What is empty is not looked at.
type Expectation struct {
	Status      verdict.Status
	Decided     *bool
	LensDecided string // the lens that must be decided
	Outcome     verdict.Result
	Conformance verdict.Result
	Reasons     map[string][]verdict.Code // by check, or by lens: they are among its codes
	Results     map[string]verdict.Result // by check
	Notes       []verdict.Code
	Without     []verdict.Code // notes that must not be there
	Verified    *Sum
	Net         *Sum
	Waits       map[string][]string // fact types by source
}

// Sum is an amount that is wanted, or that none is.
type Sum struct {
	None   bool
	Amount money.Amount
}

func (r *reader) evaluation(n ast.Node, s *Scenario) Evaluation {
	f := r.only(n, "at", "action", "complete", "declarations", "expect")
	e := Evaluation{At: f.moment("at", s.Start), ActionID: f.text("action"), DeclaredTo: f.moment("declarations", s.Start)}
	if token := n.GetToken(); token != nil {
		e.Line = token.Position.Line
	}
	if e.At == 0 {
		r.fail(n, "add at: +49h", "at is missing")
	}
	e.ActionID = r.actionOf(n, e.ActionID, s.Actions)
	e.Complete = r.complete(f, s)
	e.Expect = r.expectation(f)
	return e
}

// actionOf is the action that an evaluation is about: the one there is, if it
// names none.
func (r *reader) actionOf(n ast.Node, named string, actions []verdict.Declaration) string {
	var ids []string
	for _, a := range actions {
		if !slices.Contains(ids, a.ActionID) {
			ids = append(ids, a.ActionID)
		}
	}
	switch {
	case named == "" && len(ids) == 1:
		return ids[0]
	case named == "":
		r.fail(n, "add action: "+first(ids), "it is not said which action is evaluated")
	case !slices.Contains(ids, named):
		r.fail(n, "", "there is no action %q", named)
	}
	return named
}

func first(ids []string) string {
	if len(ids) == 0 {
		return "…"
	}
	return ids[0]
}

// complete reads watermarks: one time for all sources, or for each source one
// time or one for each type. `all`, like a time alone, stands for every type
// that a contract of the scenario names and that is not named beside it.
func (r *reader) complete(f fields, s *Scenario) map[string]map[string]value.Instant {
	all := map[string]map[string]value.Instant{}
	everything := func(at value.Instant) map[string]value.Instant {
		marks := map[string]value.Instant{}
		for _, t := range s.factTypes() {
			marks[t] = at
		}
		return marks
	}
	if n := f.nodes["complete"]; isScalar(n) {
		for _, source := range s.Sources {
			all[source.Name] = everything(r.moment(n, s.Start))
		}
		return all
	}
	sources := r.mapping(f.nodes["complete"])
	for _, name := range sources.names {
		if !slices.ContainsFunc(s.Sources, func(source evidence.Source) bool { return source.Name == name }) {
			r.fail(sources.nodes[name], "list it under sources", "there is no source %q", name)
		}
		if n := sources.nodes[name]; isScalar(n) {
			all[name] = everything(r.moment(n, s.Start))
			continue
		}
		types := r.mapping(sources.nodes[name])
		marks := map[string]value.Instant{}
		if types.has("all") {
			marks = everything(types.moment("all", s.Start))
		}
		for _, t := range types.names {
			if t != "all" {
				marks[t] = types.moment(t, s.Start)
			}
		}
		all[name] = marks
	}
	return all
}

func isScalar(n ast.Node) bool {
	_, text := n.(*ast.StringNode)
	return text
}

// factTypes are the types that the contracts of the scenario look for.
func (s *Scenario) factTypes() []string {
	var types []string
	for _, v := range s.Versions {
		k := v.Contract
		if k == nil {
			continue
		}
		for i := range k.Steps {
			types = append(types, k.Steps[i].Expect)
		}
		for i := range k.Never {
			types = append(types, k.Never[i].Expect)
		}
		for i := range k.State {
			types = append(types, k.State[i].Expect)
		}
		for i := range k.Approvals {
			types = append(types, k.Approvals[i].Expect)
		}
	}
	return types
}

func (r *reader) expectation(f fields) Expectation {
	e := r.only(f.nodes["expect"], "status", "decided", "lens_decided", "outcome", "conformance", "reasons", "results", "notes", "without", "verified", "net", "waits")
	expect := Expectation{
		Status: verdict.Status(e.text("status")), Outcome: r.result(e, "outcome"), Conformance: r.result(e, "conformance"),
		Verified: r.sum(e, "verified"), Net: r.sum(e, "net"),
	}
	switch expect.Status {
	case "", verdict.Provisional, verdict.Settled, verdict.Revised:
	default:
		r.fail(e.nodes["status"], "write provisional, settled or revised", "there is no status %q", expect.Status)
	}
	if e.has("decided") {
		decided := e.flag("decided")
		expect.Decided = &decided
	}
	switch expect.LensDecided = e.text("lens_decided"); expect.LensDecided {
	case "", verdict.OutcomeLens, verdict.ConformanceLens:
	default:
		r.fail(e.nodes["lens_decided"], "write outcome or conformance", "there is no lens %q", expect.LensDecided)
	}
	expect.Reasons = map[string][]verdict.Code{}
	reasons := r.mapping(e.nodes["reasons"])
	for _, id := range reasons.names {
		expect.Reasons[id] = r.codes(reasons.list(id))
	}
	expect.Notes, expect.Without = r.codes(e.list("notes")), r.codes(e.list("without"))
	expect.Results = map[string]verdict.Result{}
	results := r.mapping(e.nodes["results"])
	for _, id := range results.names {
		expect.Results[id] = r.result(results, id)
	}
	expect.Waits = map[string][]string{}
	waits := r.mapping(e.nodes["waits"])
	for _, source := range waits.names {
		expect.Waits[source] = r.texts(waits.list(source))
	}
	if !e.has("outcome") || !e.has("conformance") {
		r.fail(f.node, "both lenses are always expected", "outcome or conformance is missing")
	}
	return expect
}

func (r *reader) codes(nodes []ast.Node) []verdict.Code {
	var codes []verdict.Code
	for _, n := range nodes {
		code := verdict.Code(r.text(n))
		if _, known := verdict.Lookup(code); !known {
			r.fail(n, "docs/reason-codes.md has them all", "there is no code %q", code)
		}
		codes = append(codes, code)
	}
	return codes
}

func (r *reader) result(f fields, name string) verdict.Result {
	result := verdict.Result(f.text(name))
	switch result {
	case "", verdict.Pass, verdict.Fail, verdict.Unknown, verdict.NotApplicable:
	default:
		r.fail(f.nodes[name], "write PASS, FAIL, UNKNOWN or NOT_APPLICABLE", "there is no result %q", result)
	}
	return result
}

func (r *reader) sum(f fields, name string) *Sum {
	if !f.has(name) {
		return nil
	}
	text := f.text(name)
	if text == "none" {
		return &Sum{None: true}
	}
	amount, err := money.Parse(text)
	if err != nil {
		r.fail(f.nodes[name], "or write none", "%v", err)
	}
	return &Sum{Amount: amount}
}
