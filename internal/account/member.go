package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
)

// Members lists the members of the workspace. Any signed-in member may see them.
func (s *Service) Members(ctx context.Context, p access.Principal) ([]store.Member, error) {
	if err := signedIn(p.May(access.GrantClient, s.clock())); err != nil {
		return nil, err
	}
	var members []store.Member
	err := s.view(ctx, p, func(tx store.Tx) (err error) {
		members, err = tx.ListMembers()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the members: %w", err)
	}
	return members, nil
}

// signedIn takes an answer of [access.Principal.May] for a look at something, for
// which nobody has to confirm again.
func signedIn(err error) error {
	if errors.As(err, new(*access.ConfirmError)) {
		return nil
	}
	return err
}

// Invited is a new member, and the link by which they get in. It is for the inviter
// to pass on.
type Invited struct {
	Member store.Member
	Link   Token
}

// Invite makes somebody a member in a role. An address that is on this server already
// cannot be invited from here: nothing proves whose it is, and whoever had it first
// would be let in. Errors: [RequestError], [StateError], those of
// [access.Principal.MayChangeMember].
func (s *Service) Invite(ctx context.Context, p access.Principal, email, name string, role access.Role) (*Invited, error) {
	fail := func(err error) (*Invited, error) { return nil, fmt.Errorf("invite a member: %w", err) }
	if err := p.MayChangeMember(0, role, s.clock()); err != nil {
		return fail(err)
	}
	if role == 0 || role.String() == "none" {
		return fail(&RequestError{Field: "role", Problem: "is missing"})
	}
	address, err := access.ParseEmail(email)
	if err != nil {
		return fail(&RequestError{Field: "email", Problem: "cannot be: " + err.Error()})
	}
	if name != "" {
		if err := checkName("name", name); err != nil {
			return fail(err)
		}
	}
	there := &StateError{Problem: "this address is on the server already; whoever runs the server can add it to the workspace"}
	person, err := s.store.Directory().PersonByEmail(ctx, address)
	switch {
	case err == nil:
		// Somebody who was removed, or whose invitation did not get to its end, is
		// nowhere, and never had a password that another workspace could rely on.
		places, err := s.store.Directory().MembershipsOf(ctx, person.ID)
		if err != nil {
			return fail(err)
		}
		if len(places) > 0 || person.PasswordHash != "" {
			return fail(there)
		}
	case missing(err):
		if person, err = s.newPerson(address, name); err != nil {
			return fail(err)
		}
		if err := s.store.Directory().PutPerson(ctx, person); errors.Is(err, store.ErrTaken) {
			return fail(there) // by whoever invited the same address just now
		} else if err != nil {
			return fail(err)
		}
	default:
		return fail(err)
	}
	var invited *Invited
	err = s.do(ctx, p, func(tx store.Tx) error {
		if err := tx.LockMembers(); err != nil {
			return err
		}
		if err := p.MayChangeMember(0, role, tx.Now()); err != nil {
			return err
		}
		m := store.Member{
			Membership: access.Membership{Workspace: p.Workspace(), Member: person.ID, Email: address, Role: role},
			Name:       name, JoinedAt: tx.Now(),
		}
		tx.PutMember(m)
		told(tx, p.Actor(), "member.invited", string(person.ID), audit.Metadata{"email": email, "role": role.String()})
		link, err := s.link(tx, person.ID, p.Actor())
		invited = &Invited{Member: m, Link: link}
		return err
	})
	if err != nil {
		return fail(err)
	}
	return invited, nil
}

// AddMember puts somebody who is on the server already into a workspace. It is for
// whoever runs the server, who knows whose address it is. Error: [store.ErrNotFound]
// for an address that nobody has.
func (s *Service) AddMember(ctx context.Context, w access.WorkspaceID, email access.Email, role access.Role) error {
	person, err := s.store.Directory().PersonByEmail(ctx, email)
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	err = s.store.Do(ctx, w, func(tx store.Tx) error {
		if err := tx.LockMembers(); err != nil {
			return err
		}
		if _, err := memberOf(tx, person.ID); !missing(err) {
			return err // there already, with the role they have
		}
		tx.PutMember(store.Member{
			Membership: access.Membership{Workspace: w, Member: person.ID, Email: person.Email, Role: role},
			Name:       person.Name, JoinedAt: tx.Now(),
		})
		told(tx, Console, "member.added", string(person.ID), audit.Metadata{"email": string(person.Email), "role": role.String()})
		return nil
	})
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	return nil
}

// MemberLink makes a way back in for a member who is in this workspace only; see
// [access.MakeLinks]. The proof of presence that it takes is also what keeps a
// session from confirming itself by a link of its own making. Errors:
// [store.ErrNotFound], [StateError], those of [access.Principal.May].
func (s *Service) MemberLink(ctx context.Context, p access.Principal, member access.MemberID) (Token, error) {
	var link Token
	places, err := s.store.Directory().MembershipsOf(ctx, member)
	if err != nil {
		return Token{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	err = s.do(ctx, p, func(tx store.Tx) error {
		if err := p.May(access.MakeLinks, tx.Now()); err != nil {
			return err
		}
		if _, err := memberOf(tx, member); err != nil {
			return err
		}
		if len(places) > 1 {
			return &StateError{Problem: "the member is in other workspaces too; whoever runs the server can make a link"}
		}
		link, err = s.link(tx, member, p.Actor())
		return err
	})
	if err != nil {
		return Token{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	return link, nil
}

// ChangeRole gives a member another role. Making somebody an owner hands the
// workspace over, and takes what that takes. Errors: [store.ErrNotFound],
// [StateError] where no owner would be left, those of [access.Principal.May].
func (s *Service) ChangeRole(ctx context.Context, p access.Principal, member access.MemberID, to access.Role) (*store.Member, error) {
	var changed *store.Member
	err := s.changeMember(ctx, p, member, to, func(tx store.Tx, m store.Member) {
		from := m.Role
		m.Role = to
		changed = &m
		if from == to {
			return
		}
		tx.PutMember(m)
		told(tx, p.Actor(), "member.role_changed", string(member), audit.Metadata{"from": from.String(), "to": to.String()})
	})
	if err != nil {
		return nil, fmt.Errorf("change a member's role: %w", err)
	}
	return changed, nil
}

// Remove takes a member out of the workspace. Their sessions end, and so do the
// grants that count on their role. Errors: as of [Service.ChangeRole].
func (s *Service) Remove(ctx context.Context, p access.Principal, member access.MemberID) error {
	err := s.changeMember(ctx, p, member, 0, func(tx store.Tx, m store.Member) {
		tx.RemoveMember(member)
		tx.EndSessions(member, tx.Now())
		told(tx, p.Actor(), "member.removed", string(member), audit.Metadata{"email": string(m.Email), "role": m.Role.String()})
	})
	if err != nil {
		return fmt.Errorf("remove a member: %w", err)
	}
	return nil
}

// changeMember does something to a member, whose role will be another one; the zero
// Role stands for none. It sees to it, under a lock, that an owner remains.
func (s *Service) changeMember(ctx context.Context, p access.Principal, member access.MemberID, to access.Role, do func(store.Tx, store.Member)) error {
	return s.do(ctx, p, func(tx store.Tx) error {
		if err := tx.LockMembers(); err != nil {
			return err
		}
		m, err := memberOf(tx, member)
		if err != nil {
			return err
		}
		if err := p.MayChangeMember(m.Role, to, tx.Now()); err != nil {
			return err
		}
		if to == access.Owner && m.Role != access.Owner {
			if err := p.May(access.TransferWorkspace, tx.Now()); err != nil {
				return err
			}
		}
		if m.Role == access.Owner && to != access.Owner {
			members, err := tx.ListMembers()
			if err != nil {
				return err
			}
			owners := 0
			for i := range members {
				if members[i].Role == access.Owner {
					owners++
				}
			}
			if owners < 2 {
				return &StateError{Problem: "it would leave the workspace without an owner; make somebody else one first"}
			}
		}
		do(tx, *m)
		return nil
	})
}

// memberOf finds a member. Error: [store.ErrNotFound].
func memberOf(tx store.Tx, id access.MemberID) (*store.Member, error) {
	members, err := tx.ListMembers()
	if err != nil {
		return nil, err
	}
	for i := range members {
		if members[i].Member == id {
			return &members[i], nil
		}
	}
	return nil, store.ErrNotFound
}
