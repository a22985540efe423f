package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// workspaceColumns are those that [workspaceRow] reads, of the table w.
const workspaceColumns = `w.workspace_id, w.development, w.second_member, w.name, w.plan, w.created_at`

const personColumns = `p.person_id, p.email, p.name, p.password_hash, p.created_at`

var (
	listWorkspaces = directory("list_workspaces", `SELECT `+workspaceColumns+` FROM workspaces w ORDER BY w.created_at, w.workspace_id`)
	anyWorkspace   = directory("any_workspace", `SELECT w.workspace_id FROM workspaces w LIMIT 1`)
	// Whoever makes a workspace takes the turn, so that of two who begin an
	// installation one sees the other.
	takeTurn = directory("take_turn", `
		INSERT INTO turns (name, taken) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET taken = turns.taken + 1`)
	addWorkspace = directory("add_workspace", `
		INSERT INTO workspaces (workspace_id, development, second_member, name, plan, created_at, member_changes)
		VALUES ($1, $2, $3, $4, $5, $6, 0)`).taken()
	addOwner = directory("add_owner", `
		INSERT INTO people (person_id, email, email_key, name, password_hash, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (person_id) DO NOTHING`).taken()
	addMembership = directory("add_membership", `
		INSERT INTO memberships (workspace_id, person_id, role, joined_at) VALUES ($1, $2, $3, $4)`)
	addFirstLink = directory("add_first_link", `
		INSERT INTO sign_ins (workspace_id, hash, person_id, expires_at, used_at) VALUES ($1, $2, $3, $4, $5)`)

	personByID    = directory("person_by_id", `SELECT `+personColumns+` FROM people p WHERE p.person_id = $1`)
	personByEmail = directory("person_by_email", `SELECT `+personColumns+` FROM people p WHERE p.email_key = $1`)
	putPerson     = directory("put_person", `
		INSERT INTO people (person_id, email, email_key, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (person_id) DO UPDATE SET email = excluded.email, email_key = excluded.email_key, name = excluded.name,
			password_hash = excluded.password_hash`).taken()
	membershipsOf = directory("memberships_of", `
		SELECT `+memberColumns+` FROM memberships m JOIN people p ON p.person_id = m.person_id
		WHERE m.person_id = $1 ORDER BY m.joined_at, m.workspace_id`)

	metaValue = directory("meta_value", `SELECT value FROM installation WHERE name = $1`)
	setMeta   = directory("set_meta", `INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`)
)

// lockouts remove what lets anybody into a workspace.
var lockouts = []*statement{
	directory("forget_keys", `DELETE FROM api_keys WHERE workspace_id = $1`),
	directory("forget_sessions", `DELETE FROM sessions WHERE workspace_id = $1`),
	directory("forget_links", `DELETE FROM sign_ins WHERE workspace_id = $1`),
	directory("forget_members", `DELETE FROM memberships WHERE workspace_id = $1`),
}

var forgetWorkspace = directory("forget_workspace", `DELETE FROM workspaces WHERE workspace_id = $1`)

// workspaceRow reads the columns of workspaceColumns.
func workspaceRow(r Row) (store.Workspace, error) {
	var w store.Workspace
	w.ID, w.Development, w.SecondMember = access.WorkspaceID(r.Text()), r.Bool(), r.Bool()
	w.Name, w.Plan, w.CreatedAt = r.Text(), r.Text(), value.Instant(r.Int())
	return w, nil
}

func personRow(r Row) (store.Person, error) {
	return store.Person{
		ID: access.MemberID(r.Text()), Email: access.Email(r.Text()), Name: r.Text(), PasswordHash: r.Text(), CreatedAt: value.Instant(r.Int()),
	}, nil
}

// emailKey is by what addresses are compared. Hardly any server tells big letters
// from small ones, and nobody remembers which they typed.
func emailKey(e access.Email) string { return key(strings.ToLower(string(e))) }

// finally adds queries to what is sent with the commit, so that reading the
// directory takes one round trip.
func (u *unit) finally(queries ...*query) {
	for _, q := range queries {
		if call, ok := u.call(q.statement, q.args); ok {
			call.Row = q.row
			u.queued = append(u.queued, call)
		}
	}
}

// readAll reads all rows that a query has. A connection that was lost on the way is
// no reason to fail, so that it may run twice.
func readAll[T any](ctx context.Context, c *catalogue, q query, read func(Row) (T, error)) ([]T, error) {
	var all []T
	err := c.run(ctx, true, func(u *unit) error {
		all = nil
		q.row = func(r Row) error {
			one, err := read(r)
			all = append(all, one)
			return err
		}
		u.finally(&q)
		return nil
	})
	return all, err
}

// readOne reads the row that a query must have. Error: [store.ErrNotFound].
func readOne[T any](ctx context.Context, c *catalogue, q query, read func(Row) (T, error)) (T, error) {
	all, err := readAll(ctx, c, q, read)
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// write runs a statement of the directory.
func (c *catalogue) write(ctx context.Context, s *statement, args ...any) error {
	return c.run(ctx, false, func(u *unit) error {
		u.queue(s, args...)
		return nil
	})
}

// Workspaces implements [store.Directory].
func (c *catalogue) Workspaces(ctx context.Context) ([]store.Workspace, error) {
	all, err := readAll(ctx, c, query{statement: listWorkspaces}, workspaceRow)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	return all, nil
}

// CreateWorkspace implements [store.Directory].
func (c *catalogue) CreateWorkspace(ctx context.Context, w store.Workspace, owner store.Person, link store.SignIn, onlyFirst bool) (bool, error) {
	if link.Workspace != w.ID || link.Member != owner.ID {
		return false, errors.New("create a workspace: the link is not its owner's")
	}
	made := false
	err := c.run(ctx, false, func(u *unit) error {
		made = true
		u.queue(takeTurn, "create a workspace")
		err := u.ask(&query{statement: anyWorkspace, row: func(Row) error {
			made = !onlyFirst
			return nil
		}})
		if err != nil || !made {
			return err
		}
		u.queue(addWorkspace, w.ID, w.Development, w.SecondMember, w.Name, w.Plan, w.CreatedAt)
		u.queue(addOwner, owner.ID, owner.Email, emailKey(owner.Email), owner.Name, owner.PasswordHash, owner.CreatedAt)
		u.queue(addMembership, w.ID, owner.ID, access.Owner.String(), w.CreatedAt)
		u.queue(addFirstLink, w.ID, link.Hash[:], owner.ID, link.ExpiresAt, link.UsedAt)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("create a workspace: %w", err)
	}
	return made, nil
}

// DeleteWorkspace implements [store.Directory]. First nobody gets in any more, then
// everything goes, and the workspace's own row last, so that a deletion that was
// broken off can be done again.
func (c *catalogue) DeleteWorkspace(ctx context.Context, w access.WorkspaceID) error {
	err := c.run(ctx, false, func(u *unit) error {
		for _, s := range lockouts {
			u.queue(s, w)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("lock everybody out of a workspace: %w", err)
	}
	err = c.store.run(ctx, SessionOptions{Workspace: w, Elevated: true}, func(u *unit) error {
		for _, s := range deletions {
			u.queue(s)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete everything of a workspace: %w", err)
	}
	if err := c.write(ctx, forgetWorkspace, w); err != nil {
		return fmt.Errorf("forget a workspace: %w", err)
	}
	return nil
}

// PersonByEmail implements [store.Directory].
func (c *catalogue) PersonByEmail(ctx context.Context, e access.Email) (store.Person, error) {
	return c.person(ctx, personByEmail, emailKey(e))
}

// Person implements [store.Directory].
func (c *catalogue) Person(ctx context.Context, id access.MemberID) (store.Person, error) {
	return c.person(ctx, personByID, id)
}

func (c *catalogue) person(ctx context.Context, s *statement, by any) (store.Person, error) {
	p, err := readOne(ctx, c, query{statement: s, args: []any{by}}, personRow)
	if err != nil {
		return store.Person{}, fmt.Errorf("find a person: %w", err)
	}
	return p, nil
}

// PutPerson implements [store.Directory].
func (c *catalogue) PutPerson(ctx context.Context, p store.Person) error {
	if err := c.write(ctx, putPerson, p.ID, p.Email, emailKey(p.Email), p.Name, p.PasswordHash, p.CreatedAt); err != nil {
		return fmt.Errorf("keep a person: %w", err)
	}
	return nil
}

// MembershipsOf implements [store.Directory].
func (c *catalogue) MembershipsOf(ctx context.Context, id access.MemberID) ([]store.Member, error) {
	all, err := readAll(ctx, c, query{statement: membershipsOf, args: []any{id}}, memberRow)
	if err != nil {
		return nil, fmt.Errorf("find the workspaces of a person: %w", err)
	}
	return all, nil
}

// Meta implements [store.Directory].
func (c *catalogue) Meta(ctx context.Context, name string) (string, error) {
	kept, err := readOne(ctx, c, query{statement: metaValue, args: []any{name}}, metaRow)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	return kept, nil
}

// SetMeta implements [store.Directory].
func (c *catalogue) SetMeta(ctx context.Context, name, text string) (string, error) {
	kept := ""
	err := c.run(ctx, false, func(u *unit) error {
		u.queue(setMeta, name, text)
		u.finally(&query{statement: metaValue, args: []any{name}, row: func(r Row) (err error) {
			kept, err = metaRow(r)
			return err
		}})
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("keep the setting %s: %w", name, err)
	}
	return kept, nil
}

func metaRow(r Row) (string, error) { return r.Text(), nil }
