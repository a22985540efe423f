package scenario

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// Suite is a file of tests of a contract: scenarios that share what the file
// says outside of `tests`.
type Suite struct {
	File      string
	Tests     []*Scenario
	Contracts []ContractFile // in the order of their files
}

// ContractFile is a contract and where it was read.
type ContractFile struct {
	File     string
	Contract *contract.Contract
}

// ReadSuite reads a file of tests, or one scenario as a suite of one. load
// returns a file's text by its path; a contract's path counts from the folder
// of the file that names it. Errors in the file are an [Error].
//
// A test may leave out what its contract says: the sources, each as trusted as
// the contract asks; of an action the contract and its type; and that a fact is
// a snapshot, where only state checks look at its type. An action that says
// neither when it was requested nor when it was received was declared at the
// start.
func ReadSuite(name string, load func(name string) ([]byte, error)) (*Suite, error) {
	r := &reader{file: name, load: load}
	root, err := r.begin()
	if err != nil {
		return nil, err
	}
	suite := &Suite{File: name}
	switch top := r.mapping(root); {
	case !top.has("tests") && top.has("scenario"):
		suite.Tests = append(suite.Tests, r.scenario(r.only(root, append([]string{"scenario"}, scenarioKeys...)...), "scenario"))
	case !top.has("tests") && top.has("steps"):
		beside := strings.TrimSuffix(path.Base(name), path.Ext(name)) + ".test" + path.Ext(name)
		r.fail(root, "write its tests into "+beside+" beside it", "this is a contract, and no file tests it")
	default:
		suite.Tests = r.tests(root)
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, file := range slices.Sorted(maps.Keys(r.known)) {
		suite.Contracts = append(suite.Contracts, ContractFile{File: file, Contract: r.known[file]})
	}
	return suite, nil
}

func (r *reader) tests(root ast.Node) []*Scenario {
	r.brief = true
	shared := r.only(root, append([]string{"tests"}, scenarioKeys[:len(scenarioKeys)-1]...)...)
	var tests []*Scenario
	names := map[string]bool{}
	for _, n := range shared.list("tests") {
		own := r.only(n, append([]string{"test"}, scenarioKeys...)...)
		for _, key := range scenarioKeys {
			if shared.has(key) && !own.has(key) {
				own.nodes[key] = shared.nodes[key]
			}
		}
		if r.err != nil {
			return nil
		}
		s := r.scenario(own, "test")
		if names[s.Name] {
			r.fail(n, "give each test a name of its own", "there are two tests %q", s.Name)
		}
		names[s.Name] = true
		tests = append(tests, s)
	}
	if len(tests) == 0 {
		r.fail(root, "add tests: [{test: …, evaluate: …}]", "there are no tests in this file")
	}
	return tests
}

// asked are the sources that the contracts of a scenario name, each as trusted
// as they ask and telling of all types.
func asked(s *Scenario) []evidence.Source {
	var sources []evidence.Source
	for _, v := range s.Versions {
		if v.Contract == nil {
			continue
		}
		for _, source := range v.Contract.Sources {
			i := slices.IndexFunc(sources, func(known evidence.Source) bool { return known.Name == source.Name })
			if i < 0 {
				sources = append(sources, evidence.Source{Name: source.Name, Trust: source.Trust})
			} else {
				sources[i].Trust = max(sources[i].Trust, source.Trust)
			}
		}
	}
	return sources
}

// fillIn completes a declaration from the one contract of its test.
func fillIn(d *verdict.Declaration, s *Scenario) {
	if len(s.Versions) > 0 && s.Versions[0].Contract != nil {
		k := s.Versions[0].Contract
		if d.ContractID == "" {
			d.ContractID = k.ID
		}
		if d.ActionType == "" {
			d.ActionType = k.AppliesTo.ActionType
		}
	}
	if d.ReceivedAt == 0 {
		d.ReceivedAt = d.RequestedAt
	}
	if d.ReceivedAt == 0 {
		d.RequestedAt, d.ReceivedAt = s.Start, s.Start
	}
}

// snapshot reports a type of facts that contracts look at under state and
// nowhere else.
func (s *Scenario) snapshot(factType string) bool {
	states := false
	for _, v := range s.Versions {
		if v.Contract == nil {
			continue
		}
		for i := range v.Contract.State {
			states = states || v.Contract.State[i].Expect == factType
		}
		for i := range v.Contract.Steps {
			if v.Contract.Steps[i].Expect == factType {
				return false
			}
		}
		for i := range v.Contract.Never {
			if v.Contract.Never[i].Expect == factType {
				return false
			}
		}
		for i := range v.Contract.Approvals {
			if v.Contract.Approvals[i].Expect == factType {
				return false
			}
		}
	}
	return states
}
