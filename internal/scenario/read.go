package scenario

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Scenario is a situation and what its verdicts must be.
type Scenario struct {
	File        string
	Line        int // where it begins in its file
	Name, Why   string
	Start       value.Instant
	Versions    []docket.Version
	Sources     []evidence.Source // without watermarks
	Actions     []verdict.Declaration
	Facts       []evidence.Fact
	Evaluations []Evaluation
}

// Evaluation is a moment at which an action is looked at.
type Evaluation struct {
	Line     int
	At       value.Instant
	ActionID string
	// Complete are the watermarks known then, by source and fact type.
	Complete map[string]map[string]value.Instant
	// DeclaredTo is up to when all declarations are known; zero is At.
	DeclaredTo value.Instant
	Expect     Expectation
}

// ContractFolder is where the contracts of scenarios lie, beside them.
const ContractFolder = "contracts"

// Read reads a scenario and the contracts that it names. Errors in the file
// are an [Error].
func Read(files fs.FS, name string) (*Scenario, error) {
	r := &reader{file: name, load: func(name string) ([]byte, error) { return fs.ReadFile(files, name) }}
	root, err := r.begin()
	if err != nil {
		return nil, err
	}
	s := r.scenario(r.only(root, append([]string{"scenario"}, scenarioKeys...)...), "scenario")
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// begin reads the file as YAML.
func (r *reader) begin() (ast.Node, error) {
	text, err := r.load(r.file)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	root := r.open(text)
	if r.err != nil {
		return nil, r.err
	}
	return root, nil
}

// scenarioKeys are the keys of a scenario beside its name.
var scenarioKeys = []string{"why", "start", "contract", "contracts", "mode", "versions", "sources", "actions", "facts", "evaluate"}

// scenario reads one situation; its name stands under a key of its own.
func (r *reader) scenario(root fields, name string) *Scenario {
	s := &Scenario{File: r.file}
	if token := root.node.GetToken(); token != nil {
		s.Line = token.Position.Line
	}
	s.Name, s.Why = root.needed(name), root.text("why")
	if !r.brief {
		root.needed("why")
	}
	s.Start = root.moment("start", 0)
	if s.Start == 0 {
		r.fail(root.node, "add start: 2026-11-02T12:00:00Z", "start is missing")
	}
	r.contracts(s, root)
	r.sources(s, root)
	for _, n := range root.list("actions") {
		s.Actions = append(s.Actions, r.action(n, s))
	}
	for _, n := range root.list("facts") {
		s.Facts = append(s.Facts, r.fact(n, s))
	}
	for _, n := range root.list("evaluate") {
		s.Evaluations = append(s.Evaluations, r.evaluation(n, s))
	}
	if len(s.Actions) == 0 || len(s.Evaluations) == 0 {
		r.fail(root.node, "", "a scenario has at least one action and one evaluation")
	}
	return s
}

// contracts reads the versions of contracts. One that is not under `versions`
// is version 1 at any time.
func (r *reader) contracts(s *Scenario, root fields) {
	mode := r.mode(root)
	versioned := map[string]bool{}
	for _, n := range root.list("versions") {
		f := r.only(n, "contract", "version", "from", "until", "mode")
		v := docket.Version{From: f.moment("from", s.Start), Until: f.moment("until", s.Start)}
		v.Version, v.Mode = int(f.number("version")), mode
		if f.has("mode") {
			v.Mode = r.mode(f)
		}
		name := f.needed("contract")
		versioned[name] = true
		v.Contract = r.contract(n, name)
		s.Versions = append(s.Versions, v)
	}
	for _, key := range []string{"contract", "contracts"} {
		for _, n := range root.list(key) {
			if name := r.text(n); !versioned[name] {
				v := docket.Version{}
				v.Contract, v.Version, v.Mode = r.contract(n, name), 1, mode
				s.Versions = append(s.Versions, v)
			}
		}
	}
}

func (r *reader) mode(f fields) verdict.Mode {
	switch mode := verdict.Mode(f.text("mode")); mode {
	case "":
		return verdict.Live
	case verdict.Live, verdict.Shadow:
		return mode
	}
	r.fail(f.nodes["mode"], "write live or shadow", "there is no mode %q", f.text("mode"))
	return ""
}

// contract reads a contract by its file's path from here, or by its name in the
// folder of contracts.
func (r *reader) contract(n ast.Node, name string) *contract.Contract {
	if r.err != nil {
		return nil
	}
	file := path.Join(path.Dir(r.file), ContractFolder, name+".yaml")
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		file = path.Join(path.Dir(r.file), name)
	}
	if k := r.known[file]; k != nil {
		return k
	}
	text, err := r.load(file)
	if err != nil {
		r.fail(n, "name the contract's file by its path from here, as in contract: refund.yaml", "read contract %s: %v", name, err)
		return nil
	}
	k, err := contract.Parse(text)
	if err != nil {
		r.fail(n, "", "contract %s: %v", name, err)
		r.err.Contract, r.err.Cause = file, err
		return nil
	}
	if r.known == nil {
		r.known = map[string]*contract.Contract{}
	}
	r.known[file] = k
	return k
}

func (r *reader) sources(s *Scenario, root fields) {
	if r.brief && !root.has("sources") {
		s.Sources = asked(s)
		return
	}
	sources := r.mapping(root.nodes["sources"])
	for _, name := range sources.names {
		f := r.only(sources.nodes[name], "trust", "resolution", "provides")
		source := evidence.Source{Name: name, Provides: r.texts(f.list("provides"))}
		if err := source.Trust.UnmarshalText([]byte(f.needed("trust"))); err != nil {
			r.fail(f.nodes["trust"], "", "%v", err)
		}
		if text := f.text("resolution"); text != "" {
			if err := source.Resolution.UnmarshalText([]byte(text)); err != nil {
				r.fail(f.nodes["resolution"], "", "%v", err)
			}
		}
		s.Sources = append(s.Sources, source)
	}
}

func (r *reader) action(n ast.Node, s *Scenario) verdict.Declaration {
	start := s.Start
	f := r.only(n, "id", "contract", "type", "subject", "agent", "workflow", "requested", "received", "params", "channel", "compensates", "version", "proved")
	d := verdict.Declaration{
		ActionID: f.needed("id"), ContractID: f.text("contract"), ContractVersion: int(f.number("version")),
		ActionType: f.text("type"), AgentID: f.text("agent"), WorkflowID: f.text("workflow"), Channel: f.text("channel"),
		Compensates: f.text("compensates"), RequestedAt: f.moment("requested", start), ReceivedAt: f.moment("received", start),
		ProvedAt: f.moment("proved", start),
	}
	d.SubjectKind, d.SubjectID = subject(f.text("subject"))
	if r.brief {
		fillIn(&d, s)
	}
	if d.ReceivedAt == 0 {
		r.fail(n, "add received: +1s", "received is missing")
	}
	d.Params = r.values(f.nodes["params"], start, false)
	return d
}

// subject is written as kind/id, or as an id alone.
func subject(text string) (kind, id string) {
	if kind, id, found := strings.Cut(text, "/"); found {
		return kind, id
	}
	return "", text
}

func (r *reader) fact(n ast.Node, s *Scenario) evidence.Fact {
	start := s.Start
	f := r.only(n, "source", "id", "type", "at", "arrives", "observed", "subject", "refs", "attrs", "mode", "revision", "retracted", "payload")
	fact := evidence.Fact{
		Source: f.needed("source"), ExternalID: f.needed("id"), Type: f.needed("type"), OccurredAt: f.moment("at", start),
		IngestedAt: f.moment("arrives", start), ObservedAt: f.moment("observed", start),
		Mode: evidence.Mode(f.text("mode")), Revision: f.number("revision"), Retracted: f.flag("retracted"), Payload: f.text("payload"),
	}
	if r.brief && fact.Mode == "" && s.snapshot(fact.Type) {
		fact.Mode = evidence.State
	}
	if fact.OccurredAt == 0 {
		r.fail(n, "add at: +5m", "at is missing")
	}
	if fact.IngestedAt == 0 {
		fact.IngestedAt = fact.OccurredAt
	}
	if fact.ObservedAt == 0 {
		fact.ObservedAt = fact.IngestedAt
	}
	if fact.Mode != "" && fact.Mode != evidence.Event && fact.Mode != evidence.State {
		r.fail(f.nodes["mode"], "write event or state", "there is no mode %q", fact.Mode)
	}
	fact.SubjectKind, fact.SubjectID = subject(f.text("subject"))
	refs := r.mapping(f.nodes["refs"])
	for _, name := range refs.names {
		if fact.Refs == nil {
			fact.Refs = map[string]string{}
		}
		fact.Refs[name] = r.text(refs.nodes[name])
	}
	fact.Attrs = r.values(f.nodes["attrs"], start, true)
	return fact
}

// values reads parameters or attributes. What is money in a text becomes money
// in attributes only: what a declaration's text means is for the contract to
// say.
func (r *reader) values(n ast.Node, start value.Instant, typed bool) map[string]value.Value {
	f := r.mapping(n)
	if len(f.names) == 0 {
		return nil
	}
	values := make(map[string]value.Value, len(f.names))
	for _, name := range f.names {
		values[name] = r.value(f.nodes[name], start, typed)
	}
	return values
}

func (r *reader) value(n ast.Node, start value.Instant, typed bool) value.Value {
	switch scalar := n.(type) {
	case *ast.NullNode:
		return value.Value{}
	case *ast.BoolNode:
		return value.OfBool(scalar.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		d, err := money.ParseDecimal(r.text(n))
		if err != nil {
			r.fail(n, "", "%v", err)
		}
		return value.OfDecimal(d)
	case *ast.SequenceNode:
		var list []value.Value
		for _, element := range scalar.Values {
			list = append(list, r.value(element, start, typed))
		}
		return value.OfList(list)
	case *ast.StringNode, *ast.LiteralNode:
		text := r.text(n)
		if amount, err := money.Parse(text); typed && err == nil && !quoted(n) {
			return value.OfMoney(amount)
		}
		return value.OfString(text)
	}
	f := r.only(n, "time", "text", "amount", "currency")
	switch {
	case f.has("time"):
		return value.OfTime(f.moment("time", start))
	case f.has("text"):
		return value.OfString(f.text("text"))
	}
	amount, err := money.Parse(f.needed("amount") + " " + f.needed("currency"))
	if err != nil {
		r.fail(n, `write it as {amount: 180.00, currency: USD}`, "%v", err)
	}
	return value.OfMoney(amount)
}
