package sqlstore

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// memberColumns are those that [memberRow] reads, of the tables m and p.
const memberColumns = `m.workspace_id, m.person_id, p.email, m.role, p.name, m.joined_at`

var (
	listMembers = tenant("list_members", `
		SELECT `+memberColumns+` FROM memberships m JOIN people p ON p.person_id = m.person_id
		WHERE m.workspace_id = $1 ORDER BY m.joined_at, m.person_id`)
	putMember = tenant("put_member", `
		INSERT INTO memberships (workspace_id, person_id, role, joined_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, person_id) DO UPDATE SET role = excluded.role`)
	removeMember = tenant("remove_member", `DELETE FROM memberships WHERE workspace_id = $1 AND person_id = $2`)
	// A lock alone would let the next unit in with a snapshot from before: the row
	// has to change, so that this unit runs again.
	lockMembers = tenant("lock_members", `UPDATE workspaces SET member_changes = member_changes + 1 WHERE workspace_id = $1`)

	getWorkspace = tenant("get_workspace", `SELECT `+workspaceColumns+` FROM workspaces w WHERE w.workspace_id = $1`)
	putWorkspace = tenant("put_workspace", `
		UPDATE workspaces SET name = $2, plan = $3, development = $4, second_member = $5 WHERE workspace_id = $1`)

	addMemberLink = tenant("add_member_link", `
		INSERT INTO sign_ins (workspace_id, hash, person_id, expires_at, used_at) VALUES ($1, $2, $3, $4, $5)`)
	endLinksOf = tenant("end_links_of", `DELETE FROM sign_ins WHERE workspace_id = $1 AND person_id = $2 AND used_at = 0`)

	endSessionsOf = tenant("end_sessions_of", `
		UPDATE sessions SET revoked_at = $3 WHERE workspace_id = $1 AND person_id = $2 AND revoked_at = 0`)
)

// memberRow reads the columns of memberColumns.
func memberRow(r Row) (store.Member, error) {
	var m store.Member
	m.Workspace, m.Member, m.Email = access.WorkspaceID(r.Text()), access.MemberID(r.Text()), access.Email(r.Text())
	role := r.Text()
	m.Name, m.JoinedAt = r.Text(), value.Instant(r.Int())
	var err error
	m.Role, err = access.ParseRole(role)
	return m, err
}

// ListMembers implements [store.Members].
func (u *unit) ListMembers() ([]store.Member, error) {
	var all []store.Member
	err := u.ask(&query{statement: listMembers, row: func(r Row) error {
		m, err := memberRow(r)
		all = append(all, m)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the members: %w", err)
	}
	return all, nil
}

// PutMember implements [store.Members].
func (u *unit) PutMember(m store.Member) {
	if !u.owns("a member", m.Workspace) {
		return
	}
	role, err := m.Role.MarshalText()
	if err != nil {
		u.fail(fmt.Errorf("keep the member %s: %w", m.Member, err))
		return
	}
	u.queue(putMember, m.Member, string(role), m.JoinedAt)
}

// RemoveMember implements [store.Members].
func (u *unit) RemoveMember(id access.MemberID) { u.queue(removeMember, id) }

// LockMembers implements [store.Members].
func (u *unit) LockMembers() error {
	u.queue(lockMembers)
	if err := u.ask(); err != nil {
		return fmt.Errorf("lock the members: %w", err)
	}
	return nil
}

// GetWorkspace implements [store.Members].
func (u *unit) GetWorkspace() (*store.Workspace, error) {
	var found *store.Workspace
	err := u.ask(&query{statement: getWorkspace, row: func(r Row) error {
		w, err := workspaceRow(r)
		found = &w
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	if found == nil {
		return nil, store.ErrNotFound
	}
	return found, nil
}

// PutWorkspace implements [store.Members].
func (u *unit) PutWorkspace(w store.Workspace) {
	if u.owns("the settings", w.ID) {
		u.queue(putWorkspace, w.Name, w.Plan, w.Development, w.SecondMember)
	}
}

// AddSignIn implements [store.Members].
func (u *unit) AddSignIn(s store.SignIn) {
	if u.owns("a sign-in link", s.Workspace) {
		u.queue(endLinksOf, s.Member)
		u.queue(addMemberLink, s.Hash[:], s.Member, s.ExpiresAt, s.UsedAt)
	}
}

// EndSessions implements [store.Members].
func (u *unit) EndSessions(id access.MemberID, at value.Instant) { u.queue(endSessionsOf, id, at) }
