package settlement_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// folder has the scenarios, written from the rules by people who did not look at
// what the engine says.
const folder = "../../testdata/scenarios"

var scenarios = sync.OnceValues(func() ([]*scenario.Scenario, error) {
	var all []*scenario.Scenario
	for _, place := range []string{folder, folder + "/nasty"} {
		files := os.DirFS(place)
		names, err := fs.Glob(files, "*.yaml")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			s, err := scenario.Read(files, name)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
})

// play is a scenario in a workspace of its own, as far as it looks at one action.
// What it says of how far the sources are at one time may differ from action to
// action, as if each were looked at in another world.
type play struct {
	*place
	scenario *scenario.Scenario
	looks    []scenario.Evaluation
	told     map[string]map[string]value.Instant // watermarks so far
}

// byAction are the evaluations of each action, in their order.
func byAction(s *scenario.Scenario) map[string][]scenario.Evaluation {
	looks := map[string][]scenario.Evaluation{}
	for _, e := range s.Evaluations {
		looks[e.ActionID] = append(looks[e.ActionID], e)
	}
	return looks
}

// event is what happens at a time. Of one time, versions begin before anything is
// declared or told, and verdicts are looked at last.
type event struct {
	at    value.Instant
	phase int
	do    func(testing.TB)
}

// unfit says why a scenario cannot go through a server, if it cannot.
func unfit(s *scenario.Scenario) string {
	for _, e := range s.Evaluations {
		if e.DeclaredTo != 0 {
			return "it says that declarations are missing, and a server has all of them"
		}
	}
	for _, d := range s.Actions {
		if d.ProvedAt != 0 {
			return "it needs a journal's proof, which the server does not take yet"
		}
	}
	return ""
}

// TestEveryScenarioEndsAsItMustOnAServer plays all scenarios side by side, each in a
// workspace of its own, on one store whose clock goes through all of their times.
func TestEveryScenarioEndsAsItMustOnAServer(t *testing.T) {
	t.Parallel()
	all, err := scenarios()
	if err != nil {
		t.Fatal(err)
	}
	first := all[0].Start
	for _, s := range all {
		for _, e := range timeline(s) {
			first = min(first, e)
		}
	}
	on(t, first-1, func(t *testing.T, s *server) {
		var events []event
		played, every := 0, 1
		if testing.Short() {
			every = 5
		}
		for i, one := range all {
			if i%every != 0 {
				continue
			}
			if why := unfit(one); why != "" {
				t.Logf("%s is left out: %s", one.File, why)
				continue
			}
			for _, looks := range byAction(one) {
				p := &play{place: s.place(t), scenario: one, looks: looks, told: map[string]map[string]value.Instant{}}
				p.begin(t)
				events = append(events, p.events()...)
			}
			played++
		}
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.phase, b.phase)) })
		for _, e := range events {
			s.clock.set(max(e.at, s.clock.read()))
			e.do(t)
		}
		if least := 400 / every; played < least {
			t.Errorf("%d scenarios were played, at least %d are wanted", played, least)
		}
	})
}

// timeline are the times of a scenario.
func timeline(s *scenario.Scenario) []value.Instant {
	var times []value.Instant
	for _, v := range s.Versions {
		if v.From != 0 {
			times = append(times, v.From)
		}
	}
	for i := range s.Actions {
		times = append(times, s.Actions[i].ReceivedAt)
	}
	for i := range s.Facts {
		times = append(times, s.Facts[i].IngestedAt)
	}
	return times
}

// begin makes the sources, and the versions that were always active.
func (p *play) begin(t testing.TB) {
	err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error {
		for _, source := range p.scenario.Sources {
			source.Watermarks = nil
			tx.PutSource(store.SourceState{Source: source, CreatedAt: tx.Now()})
		}
		for _, v := range p.scenario.Versions {
			if v.From != 0 {
				continue
			}
			for number := 1; number <= v.Version; number++ {
				text := v.Contract.Text
				if number < v.Version {
					text = fmt.Sprintf("# filler %d\n%s", number, text)
				}
				version := store.ContractVersion{
					ContractID: v.Contract.ID, Version: number, Text: text, Digest: digestOf(text), SavedAt: tx.Now(), Mode: v.Mode, From: tx.Now(),
				}
				tx.AddContractVersion(&version)
				if number == v.Version {
					tx.ActivateContract(&version)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", p.scenario.File, err)
	}
}

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// before states what was known before anything of the scenario happened.
func (p *play) before(t testing.TB) {
	known := map[string]map[string]value.Instant{}
	for source, marks := range p.looks[0].Complete {
		known[source] = map[string]value.Instant{}
		for factType, at := range marks {
			if at <= p.clock.read() {
				known[source][factType] = at
			}
		}
	}
	p.mark(t, scenario.Evaluation{At: p.clock.read(), Complete: known})
}

func (p *play) activate(t testing.TB, v docket.Version) {
	for saved := 0; saved < v.Version; {
		text := v.Contract.Text
		kept, err := p.contracts.Save(t.Context(), p.member(t), []byte(text), "")
		if err != nil {
			t.Fatalf("%s: %v", p.scenario.File, err)
		}
		if saved = kept.Version.Version; saved < v.Version {
			// Versions have no gaps; a text that is never active fills one.
			if _, err := p.contracts.Save(t.Context(), p.member(t), fmt.Appendf(nil, "# filler of %d\n%s", saved, text), ""); err != nil {
				t.Fatalf("%s: %v", p.scenario.File, err)
			}
		}
	}
	if _, err := p.contracts.Activate(t.Context(), p.member(t), v.Contract.ID, v.Version, v.Mode); err != nil {
		t.Fatalf("%s: %v", p.scenario.File, err)
	}
}

func (p *play) events() []event {
	s := p.scenario
	var events []event
	for _, v := range s.Versions {
		if v.From != 0 {
			events = append(events, event{at: v.From, phase: 1, do: func(t testing.TB) { p.activate(t, v) }})
		}
		followed := slices.ContainsFunc(s.Versions, func(next docket.Version) bool { return next.Contract.ID == v.Contract.ID && next.From == v.Until })
		if v.Until != 0 && !followed {
			events = append(events, event{at: v.Until, phase: 0, do: func(t testing.TB) {
				if _, err := p.contracts.Retire(t.Context(), p.member(t), v.Contract.ID); err != nil {
					t.Errorf("%s: %v", s.File, err)
				}
			}})
		}
	}
	for _, d := range s.Actions {
		events = append(events, event{at: d.ReceivedAt, phase: 2, do: func(t testing.TB) { p.declare(t, d) }})
	}
	for _, f := range s.Facts {
		events = append(events, event{at: f.IngestedAt, phase: 2, do: func(t testing.TB) { p.push(t, f) }})
	}
	events = append(events, event{at: slices.Min(timeline(s)) - 1, phase: 1, do: p.before})
	for _, e := range s.Evaluations {
		// Looks at other actions are times at which it was stated how far sources are.
		if !slices.ContainsFunc(p.looks, func(own scenario.Evaluation) bool { return own.At == e.At }) {
			events = append(events, event{at: e.At, phase: 2, do: func(t testing.TB) { p.mark(t, e) }})
		}
	}
	for _, e := range p.looks {
		events = append(events, event{at: e.At, phase: 3, do: func(t testing.TB) { p.look(t, e) }})
	}
	return events
}

func (p *play) declare(t testing.TB, d verdict.Declaration) {
	body, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	read, err := action.Parse(body)
	if err != nil {
		t.Errorf("%s: %v in %s", p.scenario.File, err, body)
		return
	}
	if _, err := p.actions.Declare(t.Context(), p.recorder(t), read); err != nil {
		t.Errorf("%s: declare %s: %v", p.scenario.File, d.ActionID, err)
	}
}

func (p *play) push(t testing.TB, f evidence.Fact) {
	f.IngestedAt = 0 // that is the server's to say
	body, err := json.Marshal(map[string]any{"facts": []evidence.Fact{f}})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := intake.Parse(body)
	if err != nil {
		t.Errorf("%s: %v in %s", p.scenario.File, err, body)
		return
	}
	key := p.key(t, access.ScopesOf(access.FactsWrite), f.Source)
	if _, err := p.intake.Push(t.Context(), key, facts); err != nil {
		t.Errorf("%s: push %s: %v", p.scenario.File, f.ExternalID, err)
	}
}

// mark states the watermarks of an evaluation in place of all that was stated before.
func (p *play) mark(t testing.TB, e scenario.Evaluation) {
	for _, source := range p.scenario.Sources {
		marks := map[string]value.Instant{}
		for factType := range p.told[source.Name] {
			marks[factType] = 1 // nothing is known any more
		}
		for factType, at := range e.Complete[source.Name] {
			if len(source.Provides) == 0 || slices.Contains(source.Provides, factType) {
				marks[factType] = min(at, e.At) // what lies ahead covers nothing more
			}
		}
		if len(marks) == 0 {
			continue
		}
		p.told[source.Name] = marks
		if _, err := p.intake.PutWatermarks(t.Context(), p.key(t, access.ScopesOf(access.FactsWrite), source.Name), source.Name, marks); err != nil {
			t.Errorf("%s:%d: %v", p.scenario.File, e.Line, err)
		}
	}
}

func (p *play) look(t testing.TB, e scenario.Evaluation) {
	p.mark(t, e)
	p.drain(t)
	for _, difference := range p.stale(t) {
		t.Errorf("%s:%d: %s", p.scenario.File, e.Line, difference)
	}
	found, err := p.actions.Get(t.Context(), p.recorder(t), e.ActionID)
	if err != nil {
		t.Errorf("%s:%d: %v", p.scenario.File, e.Line, err)
		return
	}
	v := found.Verdict
	v.Compensation, v.Notes = found.Compensation, found.Notes
	for _, difference := range scenario.Differences(e.Expect, &v) {
		t.Errorf("%s:%d: %s", p.scenario.File, e.Line, difference)
	}
}
