package sqlstore

import (
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var (
	askFirst = tenant("ask_first", `
		SELECT k.n, a.form FROM {keys text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k1}`)
	askRevisions = tenant("ask_revisions", `
		SELECT k.n, d.form FROM {keys text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k1}
		{join declarations d: d.workspace_id = $1 AND d.ref = a.ref}`)
	askBySubject = tenant("ask_by_subject", `
		SELECT k.n, a.form FROM {keys text text bigint bigint} {join actions a: a.workspace_id = $1 AND a.subject_id = k.k2 AND a.subject_id <> '' AND a.start_at >= k.k3 AND a.start_at <= k.k4 AND a.contract_id = k.k1}`)
	askByParam = tenant("ask_by_param", `
		SELECT k.n, a.form FROM {keys text text text bigint bigint} {join action_links l: l.workspace_id = $1 AND l.contract_id = k.k1 AND l.param = k.k2 AND l.value = k.k3 AND l.start_at >= k.k4 AND l.start_at <= k.k5}
		{join actions a: a.workspace_id = $1 AND a.ref = l.ref}`)
	askCompensating = tenant("ask_compensating", `
		SELECT k.n, a.form FROM {keys text} {join actions a: a.workspace_id = $1 AND a.compensates = k.k1 AND a.compensates <> ''}`)
	askLatest = tenant("ask_latest", `
		SELECT k.n, v.form, v.covered FROM {keys text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k1}
		{join verdicts v: v.workspace_id = $1 AND v.ref = a.ref}`)

	askFact = tenant("ask_fact", `
		SELECT k.n, f.seq, f.form FROM {keys bytea} {join facts f: f.workspace_id = $1 AND f.identity = k.k1}`)
	askFactsByRef = tenant("ask_facts_by_ref", `
		SELECT k.n, f.seq, f.form FROM {keys text text}
		{join fact_refs r: r.workspace_id = $1 AND r.name = k.k1 AND r.value = k.k2}
		{join facts f: f.workspace_id = $1 AND f.identity = r.identity}`)
	askFactsBySubject = tenant("ask_facts_by_subject", `
		SELECT k.n, f.seq, f.form FROM {keys text bigint}
		{join facts g: g.workspace_id = $1 AND g.subject_id = k.k1 AND g.subject_id <> '' AND g.occurred_at >= k.k2}
		{join facts f: f.workspace_id = $1 AND f.identity = g.identity}`)
	askFactsByType = tenant("ask_facts_by_type", `
		SELECT k.n, f.seq, f.form FROM {keys text text bigint}
		{join facts g: g.workspace_id = $1 AND g.source = k.k1 AND g.fact_type = k.k2 AND g.occurred_at >= k.k3}
		{join facts f: f.workspace_id = $1 AND f.identity = g.identity}`)
	askFactsMoved = tenant("ask_facts_moved", `
		SELECT k.n, f.seq, f.form FROM {keys text text}
		{join fact_moves m: m.workspace_id = $1 AND m.source = k.k1 AND m.value = k.k2}
		{join facts f: f.workspace_id = $1 AND f.identity = m.identity}`)

	askActive = tenant("ask_active", `
		SELECT k.n, s.contract_id, s.version, s.mode, v.digest FROM {keys text bigint}
		{join contract_states s: s.workspace_id = $1 AND s.contract_id = k.k1 AND s.from_at <= k.k2 AND (s.until_at = 0 OR s.until_at > k.k2)}
		{join contract_versions v: v.workspace_id = $1 AND v.contract_id = s.contract_id AND v.version = s.version}`)
	askVersion = tenant("ask_version", `
		SELECT k.n, s.contract_id, s.version, s.mode, v.digest FROM {keys text bigint}
		{join contract_states s: s.workspace_id = $1 AND s.contract_id = k.k1 AND s.version = k.k2}
		{join contract_versions v: v.workspace_id = $1 AND v.contract_id = s.contract_id AND v.version = s.version}`)
	askExpecting = tenant("ask_expecting", `
		SELECT k.n, s.contract_id, s.version, s.mode, v.digest FROM {keys text}
		{join contract_types t: t.workspace_id = $1 AND t.fact_type = k.k1}
		{join contract_states s: s.workspace_id = $1 AND s.contract_id = t.contract_id AND s.version = t.version}
		{join contract_versions v: v.workspace_id = $1 AND v.contract_id = s.contract_id AND v.version = s.version}`)
)

// asking collects questions by their kinds, so that each kind is one statement.
type asking struct {
	unit      *unit
	queries   []*query
	questions map[*statement]*kind
	histories *histories
	reports   map[*docket.Question]*reported
	byName    []*docket.Question // about sources
	names     []string
	states    map[string]evidence.Source
	governing []governed
	facts     map[int64]evidence.Fact
	following map[int]*kind // questions about what comes later, by how many are wanted
}

// kind is the questions that one statement answers.
type kind struct {
	query     *query
	questions []*docket.Question
}

// reported is a question about facts, which several statements answer.
type reported struct {
	question *docket.Question
	seen     map[int64]bool
}

// governed is a version that answers a question, by its digest.
type governed struct {
	question   *docket.Question
	contractID string
	version    int
	mode       verdict.Mode
	digest     string
}

// Ask implements [store.Tx].
func (u *unit) Ask(questions []*docket.Question) error {
	a := &asking{
		unit: u, questions: map[*statement]*kind{}, histories: newHistories(u),
		reports: map[*docket.Question]*reported{}, states: map[string]evidence.Source{}, facts: map[int64]evidence.Fact{},
	}
	for _, q := range questions {
		a.add(q)
	}
	a.askSources()
	if len(a.histories.asked) > 0 {
		a.queries = append(a.queries, a.histories.queries()...)
	}
	if err := u.ask(a.queries...); err != nil {
		return fmt.Errorf("answer %d questions: %w", len(questions), err)
	}
	if err := a.histories.finish(); err != nil {
		return fmt.Errorf("add up limits: %w", err)
	}
	if err := a.compile(); err != nil {
		return fmt.Errorf("read contracts: %w", err)
	}
	for _, r := range a.reports {
		r.cut()
	}
	for _, q := range a.byName {
		for _, name := range q.Sources {
			if s, known := a.states[name]; known {
				q.States = append(q.States, s)
			}
		}
	}
	return nil
}

// add puts a question among those of its kind.
func (a *asking) add(q *docket.Question) {
	switch {
	case q.Revisions != "":
		a.key(askFirst, q, key(q.Revisions)).row = a.declaration(askFirst)
		a.key(askRevisions, q, key(q.Revisions)).row = a.declaration(askRevisions)
	case q.Declared != nil:
		a.declared(q)
	case q.Compensating != "":
		a.key(askCompensating, q, key(q.Compensating)).row = a.declaration(askCompensating)
	case q.History != nil:
		a.histories.ask(q)
	case q.Facts != nil:
		a.factsBy(q)
	case q.Fact != nil:
		a.report(&reported{question: q}, askFact, []byte(identityOf(*q.Fact)))
	case q.Active != nil && q.Active.Version != 0:
		a.key(askVersion, q, key(q.Active.ContractID), q.Active.Version).row = a.version(askVersion)
	case q.Active != nil:
		a.key(askActive, q, key(q.Active.ContractID), q.Active.At).row = a.version(askActive)
	case q.Expecting != "":
		a.key(askExpecting, q, key(q.Expecting)).row = a.version(askExpecting)
	case q.Latest != "":
		a.key(askLatest, q, key(q.Latest)).row = func(r Row) error {
			of := a.questions[askLatest].questions[r.Int()]
			v, err := readVerdict(r.Bytes())
			if err != nil {
				return err
			}
			sources, err := readSources(r.Bytes())
			of.Stored = &docket.Stored{Verdict: *v, Sources: sources}
			return err
		}
	case q.Later != nil:
		a.later(q)
	default:
		a.byName = append(a.byName, q)
		a.names = append(a.names, q.Sources...)
	}
}

// key adds a key to the query of a statement.
func (a *asking) key(s *statement, q *docket.Question, values ...any) *query {
	k := a.questions[s]
	if k == nil {
		k = &kind{query: &query{statement: s}}
		a.questions[s] = k
		a.queries = append(a.queries, k.query)
	}
	k.query.keys = append(k.query.keys, values)
	k.questions = append(k.questions, q)
	return k.query
}

func (a *asking) declaration(s *statement) func(Row) error {
	return func(r Row) error {
		q := a.questions[s].questions[r.Int()]
		d, err := readDeclaration(r.Bytes())
		q.Declarations = append(q.Declarations, d)
		return err
	}
}

func (a *asking) declared(q *docket.Question) {
	k := q.Declared
	switch k.By {
	case contract.ByActionID:
		a.key(askFirst, q, key(k.Value)).row = a.declaration(askFirst)
	case contract.ByParam:
		a.key(askByParam, q, key(k.ContractID), key(k.Param), key(k.Value), k.From, k.To).row = a.declaration(askByParam)
	default:
		a.key(askBySubject, q, key(k.ContractID), key(k.Value), k.From, k.To).row = a.declaration(askBySubject)
	}
}

func (a *asking) factsBy(q *docket.Question) {
	k, r := q.Facts, &reported{question: q}
	switch {
	case k.Ref != "":
		a.report(r, askFactsByRef, key(k.Ref), key(k.Value))
	case k.SubjectID != "":
		a.report(r, askFactsBySubject, key(k.SubjectID), k.Since)
		a.report(r, askFactsMoved, "", key(k.SubjectID))
	default:
		a.report(r, askFactsByType, key(k.Source), key(k.Type), k.Since)
		a.report(r, askFactsMoved, key(k.Source), key(k.Type))
	}
}

// report adds a key about facts. Statements may return a fact twice; it is
// answered once.
func (a *asking) report(to *reported, s *statement, values ...any) {
	if to.seen == nil {
		to.seen = map[int64]bool{}
		a.reports[to.question] = to
	}
	q := a.key(s, to.question, values...)
	of := a.questions[s]
	if q.row == nil {
		q.row = func(r Row) error {
			return a.fact(a.reports[of.questions[r.Int()]], r)
		}
	}
}

// fact reads seq and form.
func (a *asking) fact(to *reported, r Row) error {
	seq, text := r.Int(), r.Bytes()
	if to.seen[seq] {
		return nil
	}
	to.seen[seq] = true
	f, known := a.facts[seq]
	if !known {
		var err error
		if f, err = readFact(text); err != nil {
			return err
		}
		a.facts[seq] = f
	}
	to.question.Reported = append(to.question.Reported, f)
	return nil
}

// cut leaves out facts no revision of which occurred late enough.
func (r *reported) cut() {
	if r.question.Facts == nil || r.question.Facts.Since == 0 {
		return
	}
	late := map[evidence.Identity]bool{}
	for i := range r.question.Reported {
		if f := &r.question.Reported[i]; f.OccurredAt >= r.question.Facts.Since {
			late[f.Identity()] = true
		}
	}
	r.question.Reported = slices.DeleteFunc(r.question.Reported, func(f evidence.Fact) bool { return !late[f.Identity()] })
}

// later asks for what comes later in a limit's group. All that want as many are one
// statement.
func (a *asking) later(q *docket.Question) {
	k := q.Later
	if k.Most < 1 {
		return
	}
	if a.following == nil {
		a.following = map[int]*kind{}
	}
	of := a.following[k.Most]
	if of == nil {
		of = &kind{query: &query{statement: laterActions, args: []any{k.Most - 1}}}
		of.query.row = of.later
		a.following[k.Most] = of
		a.queries = append(a.queries, of.query)
	}
	of.query.keys = append(of.query.keys, []any{k.Key, key(k.Group), k.From, k.To})
	of.questions = append(of.questions, q)
}

// later reads an action that comes later. Most ids are their own keys.
func (of *kind) later(r Row) error {
	q := of.questions[r.Int()]
	l := docket.Later{Start: value.Instant(r.Int()), ActionID: r.Text()}
	text := r.Bytes()
	if len(q.Following) >= q.Later.Most {
		return nil
	}
	if len(text) > 0 {
		d, err := readDeclaration(text)
		if err != nil {
			return err
		}
		l.ActionID = d.ActionID
	}
	q.Following = append(q.Following, l)
	return nil
}

// askSources asks for all sources that any question names.
func (a *asking) askSources() {
	if len(a.names) == 0 {
		return
	}
	slices.Sort(a.names)
	names := slices.Compact(a.names)
	a.queries = append(a.queries,
		&query{statement: namedSources, args: []any{names}, row: func(r Row) error {
			s, err := sourceRow(r)
			a.states[s.Name] = s.Source
			return err
		}},
		&query{statement: namedWatermarks, args: []any{names}, row: func(r Row) error {
			source, factType := r.Text(), r.Text()
			if s, known := a.states[source]; known {
				s.Watermarks[factType] = value.Instant(r.Int())
			}
			return nil
		}})
}

func (a *asking) version(s *statement) func(Row) error {
	return func(r Row) error {
		a.governing = append(a.governing, governed{
			question: a.questions[s].questions[r.Int()], contractID: r.Text(), version: int(r.Int()),
			mode: verdict.Mode(r.Text()), digest: r.Text(),
		})
		return nil
	}
}

// compile answers questions about contracts with what was compiled before, and
// compiles the rest.
func (a *asking) compile() error {
	texts := a.unit.store.texts
	missing := &query{statement: contractTexts, row: func(r Row) error { return texts.add(r.Text(), r.Text()) }}
	for _, g := range a.governing {
		if texts.get(g.digest) == nil {
			missing.keys = append(missing.keys, []any{g.contractID, g.version})
		}
	}
	if len(missing.keys) > 0 {
		if err := a.unit.ask(missing); err != nil {
			return err
		}
	}
	for _, g := range a.governing {
		k := texts.get(g.digest)
		if k == nil {
			return fmt.Errorf("version %d of contract %s has another text than its digest says", g.version, g.contractID)
		}
		g.question.Governing = append(g.question.Governing, &verdict.Governing{Contract: k, Version: g.version, Mode: g.mode})
	}
	return nil
}
