package sqlstore

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// actionColumns are those that [actionRow] reads, of the table a.
const actionColumns = `a.ref, a.version, a.mode, a.declared_by, a.self_attested, a.form, a.body,
	(SELECT COUNT(*) FROM declarations d WHERE d.workspace_id = $1 AND d.ref = a.ref)`

var (
	actionsByID = tenant("actions_by_id", `
		SELECT `+actionColumns+` FROM {keys text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k1}`)
	actionByRef = tenant("action_by_ref", `
		SELECT `+actionColumns+` FROM actions a WHERE a.workspace_id = $1 AND a.ref = $2`)
	laterDeclarations = tenant("later_declarations", `
		SELECT ref, revision, declared_by, self_attested, form, body FROM declarations
		WHERE workspace_id = $1 AND ref = $2 ORDER BY revision`)
	refsOf = tenant("refs_of", `
		SELECT a.ref, n FROM {keys text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k1}`)

	addAction = tenant("add_action", `
		INSERT INTO actions (workspace_id, ref, action_id, contract_id, action_type, subject_id, subject_kind, agent_id, workflow_id,
			compensates, start_at, received_at, version, mode, declared_by, self_attested, form, body)
		{rows text text text text text text text text text bigint bigint bigint text text bool bytea bytea}`)
	addDeclaration = tenant("add_declaration", `
		INSERT INTO declarations (workspace_id, ref, revision, received_at, declared_by, self_attested, form, body)
		{rows text bigint bigint text bool bytea bytea}`)
	addLink = tenant("add_action_link", `
		INSERT INTO action_links (workspace_id, contract_id, param, value, start_at, ref)
		{rows text text text bigint text} ON CONFLICT DO NOTHING`)
)

// actionRow reads the columns of actionColumns.
func actionRow(r Row) (*store.Action, error) {
	a := &store.Action{}
	a.Ref, a.Revision = store.Ref(r.Text()), 1
	a.Version, a.Mode = int(r.Int()), verdict.Mode(r.Text())
	a.By, a.SelfAttested = access.Actor(r.Text()), r.Bool()
	text := r.Bytes()
	a.Body = r.Bytes()
	a.Revisions = 1 + int(r.Int())
	var err error
	a.Declaration, err = readDeclaration(text)
	return a, err
}

// ActionsByID implements [store.Actions].
func (u *unit) ActionsByID(ids []string) (map[string]*store.Action, error) {
	found := map[string]*store.Action{}
	q := &query{statement: actionsByID, row: func(r Row) error {
		a, err := actionRow(r)
		found[a.Declaration.ActionID] = a
		return err
	}}
	for _, id := range ids {
		q.keys = append(q.keys, []any{key(id)})
	}
	if err := u.ask(q); err != nil {
		return nil, fmt.Errorf("read actions by their ids: %w", err)
	}
	return found, nil
}

// ActionByRef implements [store.Actions].
func (u *unit) ActionByRef(ref store.Ref) (*store.Action, error) {
	var a *store.Action
	err := u.ask(&query{statement: actionByRef, args: []any{ref}, row: func(r Row) (err error) {
		a, err = actionRow(r)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the action %s: %w", ref, err)
	}
	if a == nil {
		return nil, store.ErrNotFound
	}
	return a, nil
}

// Declarations implements [store.Actions].
func (u *unit) Declarations(ref store.Ref) ([]store.Declared, error) {
	var all []store.Declared
	err := u.ask(
		&query{statement: actionByRef, args: []any{ref}, row: func(r Row) error {
			a, err := actionRow(r)
			all = append(all, a.Declared)
			return err
		}},
		&query{statement: laterDeclarations, args: []any{ref}, row: func(r Row) error {
			d := store.Declared{Ref: store.Ref(r.Text()), Revision: int(r.Int()), By: access.Actor(r.Text()), SelfAttested: r.Bool()}
			var err error
			d.Declaration, err = readDeclaration(r.Bytes())
			d.Body = r.Bytes()
			all = append(all, d)
			return err
		}})
	if err != nil {
		return nil, fmt.Errorf("read the declarations of the action %s: %w", ref, err)
	}
	return all, nil
}

// RefsOf implements [store.Queue].
func (u *unit) RefsOf(actionIDs []string) (map[string]store.Ref, error) {
	refs := map[string]store.Ref{}
	q := &query{statement: refsOf, row: func(r Row) error {
		ref := store.Ref(r.Text())
		refs[actionIDs[r.Int()]] = ref
		return nil
	}}
	for _, id := range actionIDs {
		q.keys = append(q.keys, []any{key(id)})
	}
	if err := u.ask(q); err != nil {
		return nil, fmt.Errorf("find actions by their ids: %w", err)
	}
	return refs, nil
}

// AddAction implements [store.Actions].
func (u *unit) AddAction(a *store.Action, limits []store.LimitEntry, linkParams map[string]string) {
	d := &a.Declaration
	text, err := form(d)
	if err != nil {
		u.fail(fmt.Errorf("write the declaration of the action %s: %w", a.Ref, err))
		return
	}
	u.queueRows(addAction, []any{
		a.Ref, key(d.ActionID), key(d.ContractID), key(d.ActionType), key(d.SubjectID), key(d.SubjectKind), key(d.AgentID), key(d.WorkflowID),
		key(d.Compensates), d.Start(), d.ReceivedAt, a.Version, a.Mode, a.By, a.SelfAttested, text, a.Body,
	})
	u.late.add(a.Ref, listing{contractID: key(d.ContractID), start: d.Start()})
	u.addLinks(a.Ref, key(d.ContractID), d.Start(), linkParams)
	u.addLimits(a.Ref, d.ReceivedAt, limits)
}

// addLinks adds what facts may link to an action by.
func (u *unit) addLinks(ref store.Ref, contractID string, start value.Instant, params map[string]string) {
	for name, text := range params {
		if text != "" {
			u.queueRows(addLink, []any{contractID, key(name), key(text), start, ref})
		}
	}
}

// BackfillLinks implements [store.Contracts].
func (u *unit) BackfillLinks(ref store.Ref, limits []store.LimitEntry, linkParams map[string]string) {
	a, err := u.ActionByRef(ref)
	if err != nil {
		u.fail(err)
		return
	}
	u.addLinks(ref, key(a.Declaration.ContractID), a.Declaration.Start(), linkParams)
	var missing []store.LimitEntry
	for _, e := range limits {
		there := false
		if err := u.ask(&query{statement: limitEntryOf, args: []any{e.Key, key(e.Group), e.Start, ref}, row: func(Row) error {
			there = true
			return nil
		}}); err != nil {
			return
		}
		if !there {
			missing = append(missing, e)
		}
	}
	u.addLimits(ref, a.Declaration.ReceivedAt, missing)
}

// AddRevision implements [store.Actions].
func (u *unit) AddRevision(d *store.Declared) {
	text, err := form(&d.Declaration)
	if err != nil {
		u.fail(fmt.Errorf("write the declaration of the action %s: %w", d.Ref, err))
		return
	}
	u.queueRows(addDeclaration, []any{d.Ref, d.Revision, d.Declaration.ReceivedAt, d.By, d.SelfAttested, text, d.Body})
}
