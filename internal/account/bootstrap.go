package account

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
)

// Console is how the audit names whoever runs the server, at its console. It is no
// address, no key and no client.
const Console access.Actor = "console"

// Started is what a first start made.
type Started struct {
	Workspace store.Workspace
	Owner     store.Person
	Link      Token // the owner signs in by it once, within three days
}

// Bootstrap makes the first workspace with its owner and a link, and nothing (nil)
// where there is a workspace already, whoever else is starting. Errors:
// [RequestError] for a name or an address that cannot be.
func (s *Service) Bootstrap(ctx context.Context, workspace string, email string) (*Started, error) {
	started, err := s.found(ctx, workspace, email, true)
	if err != nil {
		return nil, fmt.Errorf("make the first workspace: %w", err)
	}
	return started, nil
}

// CreateWorkspace makes another workspace. Its owner may be somebody who is on the
// server already. It is for whoever runs the server.
func (s *Service) CreateWorkspace(ctx context.Context, workspace string, email string) (*Started, error) {
	started, err := s.found(ctx, workspace, email, false)
	if err != nil {
		return nil, fmt.Errorf("make a workspace: %w", err)
	}
	return started, nil
}

func (s *Service) found(ctx context.Context, name, email string, onlyFirst bool) (*Started, error) {
	if err := checkName("name", name); err != nil {
		return nil, err
	}
	address, err := access.ParseEmail(email)
	if err != nil {
		return nil, &RequestError{Field: "email", Problem: "cannot be: " + err.Error()}
	}
	at := s.clock()
	owner, err := s.store.Directory().PersonByEmail(ctx, address)
	if missing(err) {
		owner, err = s.newPerson(address, "")
	}
	if err != nil {
		return nil, err
	}
	id, err := s.newID("ws_")
	if err != nil {
		return nil, err
	}
	w := store.Workspace{Workspace: access.Workspace{ID: access.WorkspaceID(id)}, Name: name, Plan: plan.Default, CreatedAt: at}
	link, hash, err := s.newToken(linkMark)
	if err != nil {
		return nil, err
	}
	way := store.SignIn{Hash: hash, Workspace: w.ID, Member: owner.ID, ExpiresAt: at.Add(linkLife)}
	made, err := s.store.Directory().CreateWorkspace(ctx, w, owner, way, onlyFirst)
	if err != nil || !made {
		return nil, err
	}
	err = s.store.Do(ctx, w.ID, func(tx store.Tx) error {
		told(tx, Console, "workspace.created", string(w.ID), audit.Metadata{"name": name, "owner": string(address)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Started{Workspace: w, Owner: owner, Link: link}, nil
}

func (s *Service) newPerson(email access.Email, name string) (store.Person, error) {
	id, err := s.newID("per_")
	if err != nil {
		return store.Person{}, err
	}
	return store.Person{ID: access.MemberID(id), Email: email, Name: name, CreatedAt: s.clock()}, nil
}

// ConsoleLink makes a way in for a member who lost theirs. It is for whoever runs the
// server, who could read the database as well. Error: [store.ErrNotFound].
func (s *Service) ConsoleLink(ctx context.Context, w access.WorkspaceID, email string) (Token, error) {
	var link Token
	err := s.store.Do(ctx, w, func(tx store.Tx) error {
		members, err := tx.ListMembers()
		if err != nil {
			return err
		}
		for _, m := range members {
			if strings.EqualFold(string(m.Email), email) {
				link, err = s.link(tx, m.Member, Console)
				return err
			}
		}
		return store.ErrNotFound
	})
	if err != nil {
		return Token{}, fmt.Errorf("make a sign-in link for %s: %w", email, err)
	}
	return link, nil
}

// link makes a way in for a member, and ends those that were made before.
func (s *Service) link(tx store.Tx, m access.MemberID, by access.Actor) (Token, error) {
	link, hash, err := s.newToken(linkMark)
	if err != nil {
		return Token{}, err
	}
	if err := tx.LockMembers(); err != nil {
		return Token{}, err
	}
	tx.AddSignIn(store.SignIn{Hash: hash, Workspace: tx.Workspace(), Member: m, ExpiresAt: tx.Now().Add(linkLife)})
	told(tx, by, "member.link_made", string(m), nil)
	return link, nil
}

func checkName(field, name string) error {
	if strings.TrimSpace(name) == "" || len(name) > 200 {
		return &RequestError{Field: field, Problem: "has 1 to 200 bytes"}
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return &RequestError{Field: field, Problem: "has control characters"}
	}
	return nil
}
