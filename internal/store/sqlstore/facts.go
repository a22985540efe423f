package sqlstore

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var (
	// What is known of the facts that are to be added: the latest revision, and whether
	// this one is there. Of those that are new there is no row.
	knownFacts = tenant("known_facts", `
		SELECT k.n, h.ordinal, h.subject_id, h.fact_type, h.moved,
			EXISTS (SELECT 1 FROM facts d WHERE d.workspace_id = $1 AND d.identity = k.k1 AND d.digest = k.k2)
		FROM {keys bytea bytea} {join facts h: h.workspace_id = $1 AND h.identity = k.k1 AND h.ordinal =
			(SELECT MAX(m.ordinal) FROM facts m WHERE m.workspace_id = $1 AND m.identity = k.k1)}`)
	addFact = tenant("add_fact", `
		INSERT INTO facts (workspace_id, identity, ordinal, digest, source, external_id, fact_type, subject_id, occurred_at, moved, kept_by,
			form, body)
		{rows bytea bigint bytea text text text text bigint bool text bytea bytea}`)
	addRef = tenant("add_fact_ref", `
		INSERT INTO fact_refs (workspace_id, name, value, identity) {rows text text bytea} ON CONFLICT DO NOTHING`)
	addMove = tenant("add_fact_move", `
		INSERT INTO fact_moves (workspace_id, source, value, identity) {rows text text bytea} ON CONFLICT DO NOTHING`)
	addKind = tenant("add_fact_kind", `
		INSERT INTO fact_kinds (workspace_id, source, fact_type) {rows text text} ON CONFLICT DO NOTHING`)
	factRevisions = tenant("fact_revisions", `
		SELECT seq, kept_by, form, body FROM facts WHERE workspace_id = $1 AND identity = $2 ORDER BY ordinal`)
)

// head is the latest revision of a fact that is known.
type head struct {
	ordinal           int64
	subject, factType string
	moved             bool
}

// AddFacts implements [store.Evidence]. Revisions of one fact are numbered, so
// that of two units that add some at the same time one runs again and sees what
// the other has added.
func (u *unit) AddFacts(facts []store.Fact) ([]bool, error) {
	digests, identities := make([]string, len(facts)), make([]string, len(facts))
	chosen := map[string]int{} // by digest: which of the facts is kept
	q := &query{statement: knownFacts}
	for i := range facts {
		f := &facts[i].Fact
		identities[i], digests[i] = identityOf(f.Identity()), digestOf(f)
		other, twice := chosen[digests[i]]
		if !twice {
			q.keys = append(q.keys, []any{[]byte(identities[i]), []byte(digests[i])})
		}
		// Of two spellings that came together either could be kept, but not the one
		// that happened to stand first.
		if !twice || arrivedBefore(f, &facts[other].Fact) {
			chosen[digests[i]] = i
		}
	}
	heads, there := map[string]*head{}, map[string]bool{}
	asked := q.keys
	q.row = func(r Row) error {
		of := asked[r.Int()]
		heads[string(of[0].([]byte))] = &head{ordinal: r.Int(), subject: r.Text(), factType: r.Text(), moved: r.Bool()}
		if r.Bool() {
			there[string(of[1].([]byte))] = true
		}
		return nil
	}
	if err := u.ask(q); err != nil {
		return nil, fmt.Errorf("see which facts are known: %w", err)
	}
	isNew := make([]bool, len(facts))
	for i := range facts {
		if there[digests[i]] {
			continue
		}
		isNew[i], there[digests[i]] = true, true
		if heads[identities[i]] == nil {
			heads[identities[i]] = &head{}
		}
		if err := u.addFact(&facts[chosen[digests[i]]], heads[identities[i]], identities[i], digests[i]); err != nil {
			return nil, err
		}
	}
	return isNew, nil
}

// addFact adds a revision after the latest one, which it then is.
func (u *unit) addFact(f *store.Fact, latest *head, identity, digest string) error {
	text, err := form(&f.Fact)
	if err != nil {
		return fmt.Errorf("write the fact %s of %s: %w", f.ExternalID, f.Source, err)
	}
	id, source, subject, factType := []byte(identity), key(f.Source), key(f.SubjectID), key(f.Type)
	before := *latest
	latest.moved = before.moved || before.ordinal > 0 && (before.subject != subject || before.factType != factType)
	latest.ordinal, latest.subject, latest.factType = before.ordinal+1, subject, factType
	u.queueRows(addFact, []any{
		id, latest.ordinal, []byte(digest), source, key(f.ExternalID), factType, subject, f.OccurredAt, latest.moved, f.By, text, f.Body,
	})
	if latest.moved {
		// Whoever asks by a subject or a type that another revision has finds all.
		for _, s := range []string{before.subject, subject} {
			if s != "" {
				u.queueRows(addMove, []any{"", s, id})
			}
		}
		u.queueRows(addMove, []any{source, before.factType, id}, []any{source, factType, id})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Refs)) {
		u.queueRows(addRef, []any{key(name), key(f.Refs[name]), id})
	}
	u.late.tally(f.Source).add(1, u.Now())
	u.late.kind(f.Source, f.Type)
	return nil
}

// identityOf is the identity as one key.
func identityOf(id evidence.Identity) string {
	b := value.AppendString(nil, id.Source)
	b = value.AppendString(b, id.Family)
	b = value.AppendString(b, id.ExternalID)
	sum := sha256.Sum256(b)
	return string(sum[:16])
}

// digestOf is the same for two revisions that tell the same: of one identity and
// one order, observed at one time, of one payload and one content however it was
// spelled.
func digestOf(f *evidence.Fact) string {
	b := make([]byte, 0, 512)
	for _, text := range []string{
		f.Source, evidence.Family(f.Type), f.ExternalID, f.Type, f.SubjectID, f.SubjectKind, f.Payload, modeOf(f),
	} {
		b = value.AppendString(b, text)
	}
	for _, n := range []int64{f.Revision, int64(f.ObservedAt), int64(f.OccurredAt)} {
		b = append(strconv.AppendInt(b, n, 10), ' ')
	}
	b = strconv.AppendBool(b, f.Retracted)
	for _, name := range slices.Sorted(maps.Keys(f.Refs)) {
		b = value.AppendString(b, name)
		b = value.AppendString(b, f.Refs[name])
	}
	b = append(b, '\n')
	for _, name := range slices.Sorted(maps.Keys(f.Attrs)) {
		b = value.AppendString(b, name)
		b = appendMeaning(b, f.Attrs[name])
	}
	sum := sha256.Sum256(b)
	return string(sum[:16]) // it tells the revisions of one fact apart, no more
}

func modeOf(f *evidence.Fact) string {
	if f.Mode == "" {
		return string(evidence.Event)
	}
	return string(f.Mode)
}

// appendMeaning writes values that are the same alike: 180.0 and 180.00 are one
// number.
func appendMeaning(b []byte, v value.Value) []byte {
	b = append(b, byte('0'+v.Kind()))
	switch v.Kind() {
	case value.Missing:
	case value.Bool:
		b = strconv.AppendBool(b, v.Bool())
	case value.Decimal:
		b = append(b, plain(v.Decimal())...)
	case value.Money:
		a := v.Amount()
		b = append(append(append(b, plain(a.Value)...), ' '), a.Currency...)
	case value.Time:
		b = strconv.AppendInt(b, int64(v.Instant()), 10)
	case value.List:
		b = append(b, '[')
		for _, element := range v.List() {
			b = append(appendMeaning(b, element), ',')
		}
		b = append(b, ']')
	default:
		b = value.AppendString(b, v.Text())
	}
	return append(b, ';')
}

func arrivedBefore(f, g *evidence.Fact) bool {
	if f.IngestedAt != g.IngestedAt {
		return f.IngestedAt < g.IngestedAt
	}
	return evidence.Compare(f, g) < 0
}

// FactRevisions implements [store.Evidence].
func (u *unit) FactRevisions(id evidence.Identity) ([]store.Fact, error) {
	var all []store.Fact
	err := u.ask(&query{statement: factRevisions, args: []any{[]byte(identityOf(id))}, row: func(r Row) error {
		f, err := keptFact(r)
		all = append(all, f)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the revisions of a fact: %w", err)
	}
	return all, nil
}

// keptFact reads seq, kept_by, form and body.
func keptFact(r Row) (store.Fact, error) {
	f := store.Fact{Seq: r.Int(), By: access.Actor(r.Text())}
	text := r.Bytes()
	f.Body = r.Bytes()
	var err error
	f.Fact, err = readFact(text)
	return f, err
}
