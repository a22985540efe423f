package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

var questionLaws = []law{
	{"every question about any world is answered as memory answers it", sameAnswers},
	{"a case is the same whether a store or memory is asked for it", sameCases},
	{"no questions are answered with nothing", noQuestions},
}

func sameAnswers(t *testing.T, s *suite) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, t, s.workspace(t))
		questions := w.drawQuestions(rt)
		remembered := clone(questions)
		if err := docket.Asking(w.memory)(remembered); err != nil {
			rt.Fatal(err)
		}
		err := w.store.View(background(t), w.id, func(tx store.Tx) error { return tx.Ask(questions) })
		if err != nil {
			rt.Fatal(err)
		}
		for i, q := range questions {
			if got, want := told(q), told(remembered[i]); got != want {
				rt.Errorf("to %s the store says\n%s\nand memory\n%s\nof\n%s", asked(q), got, want, w)
			}
		}
	})
}

func clone(questions []*docket.Question) []*docket.Question {
	var all []*docket.Question
	for _, q := range questions {
		one := *q
		all = append(all, &one)
	}
	return all
}

func sameCases(t *testing.T, s *suite) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, t, s.workspace(t))
		for i := range w.declared {
			id := w.declared[i].ActionID
			when := max(drawTime(rt, "when"), w.declared[i].ReceivedAt)
			want, err := docket.Build(w.memory, id, when)
			if err != nil {
				rt.Fatal(err)
			}
			var got *verdict.Case
			err = w.store.View(background(t), w.id, func(tx store.Tx) error {
				got, err = docket.Build(asking{tx}, id, when)
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
			if g, w := got.AppendJSON(nil), want.AppendJSON(nil); string(g) != string(w) {
				rt.Errorf("the store's case of %s at %s is\n%s\nand memory's\n%s", id, when, g, w)
			}
		}
	})
}

func noQuestions(t *testing.T, s *suite) {
	p := s.workspace(t)
	err := p.store.View(background(t), p.id, func(tx store.Tx) error { return tx.Ask(nil) })
	if err != nil {
		t.Error(err)
	}
}

// drawQuestions asks for what is in the world and for what is not, all kinds.
func (w *world) drawQuestions(t *rapid.T) []*docket.Question {
	action := func() string { return pick(t, "action", actionID(0), actionID(1), actionID(2), actionID(3), "nobody") }
	var questions []*docket.Question
	ask := func(q docket.Question) { questions = append(questions, &q) }
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		ask(docket.Question{Revisions: action()})
		ask(docket.Question{Compensating: action()})
		ask(docket.Question{Latest: action()})
		ask(docket.Question{Sources: pick(t, "sources", []string{"stripe", "bank", "nobody"}, []string{"bank"}, []string{"nobody"})})
		ask(docket.Question{Active: &docket.ActiveKey{ContractID: pick(t, "contract", "refunds", "reversals", "nobody's"), At: drawTime(t, "active").Add(pick(t, "days", -20*day, -day, 0, day, 20*day))}})
		ask(docket.Question{Expecting: pick(t, "expecting", "refund.succeeded", "refund.failed", "payment.returned", "approval.granted", "nothing")})
		for _, key := range w.drawFactKeys(t) {
			ask(docket.Question{Facts: &key})
		}
		if len(w.facts) > 0 {
			id := w.facts[rapid.IntRange(0, len(w.facts)-1).Draw(t, "fact")].Identity()
			ask(docket.Question{Fact: &id})
		}
		ask(docket.Question{Fact: &evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "nobody's"}})
		for _, key := range w.drawActionKeys(t) {
			ask(docket.Question{Declared: &key})
		}
		w.drawLimits(t, ask)
	}
	return questions
}

func (w *world) drawFactKeys(t *rapid.T) []docket.FactKey {
	since := func(key docket.FactKey) docket.FactKey {
		if rapid.Bool().Draw(t, "has since") {
			key.Since = drawTime(t, "since")
		}
		return key
	}
	return []docket.FactKey{
		since(docket.FactKey{Ref: "key", Value: pick(t, "key", actionID(0), actionID(1), "nobody")}),
		since(docket.FactKey{Ref: pick(t, "ref", "order", "desk", "none"), Value: pick(t, "value", "o-1", "o-2", "7")}),
		since(docket.FactKey{SubjectID: pick(t, "subject", "o-1", "o-2", "o-3")}),
		since(docket.FactKey{Source: pick(t, "source", "stripe", "bank"), Type: pick(t, "type", "refund.succeeded", "refund.failed", "none")}),
	}
}

func (w *world) drawActionKeys(t *rapid.T) []docket.ActionKey {
	key := func(by contract.LinkBy, param, v string) docket.ActionKey {
		k := docket.ActionKey{ContractID: pick(t, "contract", "refunds", "refunds", "reversals"), By: by, Param: param, Value: v}
		k.From, k.To = drawTime(t, "from"), drawTime(t, "to")
		if rapid.Bool().Draw(t, "wide") {
			k.From, k.To = at(-100*day), at(100*day)
		}
		return k
	}
	keys := []docket.ActionKey{
		key(contract.ByActionID, "", pick(t, "id", actionID(0), actionID(1), "nobody")),
		key(contract.BySubject, "", pick(t, "subject", "o-1", "o-2")),
		key(contract.BySubjectID, "", pick(t, "subject", "o-1", "o-3")),
	}
	// A store finds actions by those parameters only that some version links by.
	for _, k := range []docket.ActionKey{
		key(contract.ByParam, "desk", pick(t, "desk", "7", "8", "9")), key(contract.ByParam, "order", pick(t, "order", "o-1", "o-2")),
	} {
		if w.links(k.ContractID, k.Param) {
			keys = append(keys, k)
		}
	}
	return keys
}

// links says whether a version of a contract links by a parameter.
func (w *world) links(contractID, param string) bool {
	return slices.ContainsFunc(w.versions[contractID], func(k *contract.Contract) bool {
		rules := slices.Clone(k.Link)
		for i := range k.Approvals {
			rules = append(rules, k.Approvals[i].Link...)
		}
		return slices.ContainsFunc(rules, func(r contract.Link) bool { return r.By == contract.ByParam && r.Param == param })
	})
}

func (w *world) drawLimits(t *rapid.T, ask func(docket.Question)) {
	id := pick(t, "contract", "refunds", "refunds", "reversals")
	k := pick(t, "version", w.versions[id]...)
	for i := range k.Limits {
		l := &k.Limits[i]
		var groups []string
		for j := range w.declared {
			groups = append(groups, docket.Group(l, engine.NewClaimant(k, &w.declared[j])))
		}
		group := pick(t, "group", append(groups, "", `"nobody"`)...)
		to := drawTime(t, "to")
		from := pick(t, "from", to.Add(-l.Rolling.Over), drawTime(t, "from"), at(-100*day))
		ask(docket.Question{History: &docket.HistoryQuery{
			Contract: k, Limit: l, Mode: pick(t, "mode", verdict.Live, verdict.Shadow), Group: group,
			Except: pick(t, "except", actionID(0), actionID(1), "nobody"),
			From:   min(from, to), To: to, At: pick(t, "at", at(100*day), drawTime(t, "at")),
		}})
		ask(docket.Question{Later: &docket.LaterQuery{Key: docket.LimitKey(k, l), Group: group, From: min(from, to), To: to, Most: pick(t, "most", 1, 2, 100)}})
	}
}

// asked writes a question.
func asked(q *docket.Question) string {
	switch {
	case q.Declared != nil:
		return fmt.Sprintf("Declared %+v", *q.Declared)
	case q.History != nil:
		h := *q.History
		return fmt.Sprintf("History of %s %q %q without %s from %s to %s at %s", h.Limit.ID, h.Group, h.Mode, h.Except, h.From, h.To, h.At)
	case q.Facts != nil:
		return fmt.Sprintf("Facts %+v", *q.Facts)
	case q.Fact != nil:
		return fmt.Sprintf("Fact %+v", *q.Fact)
	case q.Active != nil:
		return fmt.Sprintf("Active %s at %s", q.Active.ContractID, q.Active.At)
	case q.Later != nil:
		return fmt.Sprintf("Later %+v", *q.Later)
	}
	return fmt.Sprintf("Revisions %q, Compensating %q, Sources %q, Expecting %q, Latest %q", q.Revisions, q.Compensating, q.Sources, q.Expecting, q.Latest)
}

// told writes an answer so that two that say the same read the same. Where an
// answer may hold more than was asked for, what does not belong there is left out.
func told(q *docket.Question) string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range q.Declarations {
		d := &q.Declarations[i]
		if key := q.Declared; key != nil && (d.ContractID != key.ContractID || d.Start() < key.From || d.Start() > key.To) {
			continue
		}
		line("%s", wording(*d))
	}
	for i := range q.Reported {
		line("%s", factWording(&q.Reported[i]))
	}
	for i := range q.States {
		s := &q.States[i]
		line("%s %s %v %s %s", s.Name, s.Trust, s.Provides, s.Unit(), marks(s.Watermarks))
	}
	for _, g := range q.Governing {
		line("%s %s %d %s", g.Contract.ID, g.Contract.Digest, g.Version, g.Mode)
	}
	if q.History != nil {
		line("%d %v %d, %s from %s to %s, complete to %s", q.Sum.Count, q.Sum.Totals, q.Sum.Unvalued, q.Sum.Limit, q.Sum.From, q.Sum.To, q.Sum.CompleteTo)
	}
	if q.Stored != nil {
		c := verdict.Case{Sources: q.Stored.Sources}
		line("%s from %s", word(&q.Stored.Verdict), c.AppendJSON(nil))
	}
	if q.Later == nil {
		slices.Sort(lines)
	}
	for _, l := range q.Following {
		line("%s at %s", l.ActionID, l.Start)
	}
	return strings.Join(lines, "\n")
}

func factWording(f *evidence.Fact) string {
	c := verdict.Case{Facts: []evidence.Fact{*f}}
	return string(c.AppendJSON(nil))
}

// asking are records that ask a unit, one question at a time.
type asking struct{ tx store.Tx }

func (a asking) ask(q docket.Question) (*docket.Question, error) {
	err := a.tx.Ask([]*docket.Question{&q})
	return &q, err
}

func (a asking) Revisions(id string) ([]verdict.Declaration, error) {
	q, err := a.ask(docket.Question{Revisions: id})
	return q.Declarations, err
}

func (a asking) Declared(key docket.ActionKey) ([]verdict.Declaration, error) {
	q, err := a.ask(docket.Question{Declared: &key})
	return q.Declarations, err
}

func (a asking) Compensating(id string) ([]verdict.Declaration, error) {
	q, err := a.ask(docket.Question{Compensating: id})
	return q.Declarations, err
}

func (a asking) History(query docket.HistoryQuery) (verdict.History, error) {
	q, err := a.ask(docket.Question{History: &query})
	return q.Sum, err
}

func (a asking) Later(query docket.LaterQuery) ([]docket.Later, error) {
	q, err := a.ask(docket.Question{Later: &query})
	return q.Following, err
}

func (a asking) Facts(key docket.FactKey) ([]evidence.Fact, error) {
	q, err := a.ask(docket.Question{Facts: &key})
	return q.Reported, err
}

func (a asking) Fact(id evidence.Identity) ([]evidence.Fact, error) {
	q, err := a.ask(docket.Question{Fact: &id})
	return q.Reported, err
}

func (a asking) Sources(names []string) ([]evidence.Source, error) {
	q, err := a.ask(docket.Question{Sources: names})
	return q.States, err
}

func (a asking) Active(id string, at value.Instant) (*verdict.Governing, error) {
	q, err := a.ask(docket.Question{Active: &docket.ActiveKey{ContractID: id, At: at}})
	if len(q.Governing) == 0 {
		return nil, err
	}
	return q.Governing[0], err
}

func (a asking) Version(id string, number int) (*verdict.Governing, error) {
	q, err := a.ask(docket.Question{Active: &docket.ActiveKey{ContractID: id, Version: number}})
	if len(q.Governing) == 0 {
		return nil, err
	}
	return q.Governing[0], err
}

func (a asking) Expecting(factType string) ([]*verdict.Governing, error) {
	q, err := a.ask(docket.Question{Expecting: factType})
	return q.Governing, err
}

func (a asking) Latest(id string) (*docket.Stored, error) {
	q, err := a.ask(docket.Question{Latest: id})
	return q.Stored, err
}

var _ docket.Records = asking{}
