package access

import (
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// Permission is an act that no scope grants. What a permission allows goes by
// the role, and a model never holds one, whatever the role of its member.
type Permission uint8

// The permissions, from the least to the most.
const (
	GrantClient       Permission = iota + 1 // approve an OAuth client, with scopes that the own role may hold
	Reconcile                               // take in claims, run them against verdicts, close them
	OpenDispute                             // object to a line
	ProposeContract                         // leave a draft for a member to look at
	SaveDraft                               // keep a draft of a contract
	DecideDispute                           // say how a dispute ends
	ActivateContract                        // make a version govern what is declared from now on
	ManageKeys                              // make, rotate and revoke API keys
	ManageConnections                       // connect sources, with their credentials
	ChangeTrust                             // say anew how far a source is believed
	ManageMembers                           // invite, change roles, remove
	MakeLinks                               // make a sign-in link for a member
	AdmitBacker                             // let somebody in who may be the second member behind a contract
	ReadAudit                               // who did what, with addresses
	ChangeSettings                          // the development switch, the second member, retention
	EraseSubject                            // remove what is kept about a person
	DeleteWorkspace                         // with all that is in it
	TransferWorkspace                       // hand it to another owner
	permissionsEnd
)

// heldBy says which credentials can carry a permission at all.
type heldBy uint8

const (
	onlyMembers  heldBy = iota // a signed-in person
	alsoKeys                   // and keys by the role that they act in
	alsoDrafters               // and keys that hold contracts:draft and nothing else
)

// rule is what one permission asks for.
type rule struct {
	name  string
	least Role
	by    heldBy
	// again wants a proof of presence that is younger than [ConfirmedFor]: what
	// cannot be undone, and what opens the door to others.
	again bool
}

var rules = [permissionsEnd]rule{
	GrantClient:       {name: "approve clients", least: Viewer},
	Reconcile:         {name: "reconcile", least: Analyst, by: alsoKeys},
	OpenDispute:       {name: "open disputes", least: Analyst, by: alsoKeys},
	ProposeContract:   {name: "propose contracts", least: Analyst, by: alsoDrafters},
	SaveDraft:         {name: "save drafts", least: Analyst},
	DecideDispute:     {name: "decide disputes", least: Admin},
	ActivateContract:  {name: "activate contracts", least: Admin, again: true},
	ManageKeys:        {name: "manage keys", least: Admin, again: true},
	ManageConnections: {name: "manage connections", least: Admin},
	// It makes every contract that counts on the source weaker, at once.
	ChangeTrust:   {name: "change the trust of sources", least: Admin, again: true},
	ManageMembers: {name: "manage members", least: Admin},
	// Whoever holds the link could act as that member, and be the second one behind
	// a contract; owners could do without a second one anyway.
	MakeLinks: {name: "make sign-in links", least: Owner, again: true},
	// One admin would be two members. An owner could switch the rule off as well.
	AdmitBacker:       {name: "let in who may stand behind a contract", least: Owner, again: true},
	ReadAudit:         {name: "read the audit", least: Admin},
	ChangeSettings:    {name: "change settings", least: Owner, again: true},
	EraseSubject:      {name: "erase a subject", least: Owner, again: true},
	DeleteWorkspace:   {name: "delete the workspace", least: Owner, again: true},
	TransferWorkspace: {name: "transfer the workspace", least: Owner, again: true},
}

// ConfirmedFor is how long a proof of presence lasts.
const ConfirmedFor = 15 * time.Minute

func (p Permission) known() bool { return p > 0 && p < permissionsEnd }

// String says what it allows, as after "may".
func (p Permission) String() string {
	if !p.known() {
		return "nothing"
	}
	return rules[p].name
}

// May says whether the principal may do this: nil, or a [MemberOnlyError], a
// [RoleError] or a [ConfirmError].
func (p Principal) May(perm Permission, at value.Instant) error {
	if !perm.known() {
		return &MemberOnlyError{Permission: perm}
	}
	r := rules[perm]
	switch {
	case p.modelFacing:
		return &MemberOnlyError{Permission: perm}
	case p.kind == APIKey && r.by == alsoDrafters:
		if p.scopes != ScopesOf(ContractsDraft) {
			return &MemberOnlyError{Permission: perm}
		}
		return nil
	case p.kind == APIKey && r.by != alsoKeys:
		return &MemberOnlyError{Permission: perm}
	case p.role < r.least:
		return &RoleError{Permission: perm, Required: r.least, Role: p.role}
	case r.again && !p.confirmed(at):
		return &ConfirmError{Permission: perm}
	}
	return nil
}

// confirmed says that the member was there a short time ago. A proof from the
// future, which a clock that was set back makes of a real one, is none.
func (p Principal) confirmed(at value.Instant) bool {
	return p.confirmedAt != 0 && p.confirmedAt <= at && at.Sub(p.confirmedAt) <= ConfirmedFor
}

// MayChangeMember says whether the principal may give a member in the role from
// the role to. The zero Role is none: inviting comes from none, removing goes to
// none. Nobody raises anybody above themselves, or lowers somebody above them. To
// make an admin or an owner takes a proof of presence, as what they could then do
// does: else a session that was left open would make itself a fresh one. Where a
// weaker contract takes a second member, it takes an owner ([AdmitBacker]) to let
// somebody be one who could not before: else one admin would invite their own second.
// That an owner remains is for the store to see to, under a lock.
func (p Principal) MayChangeMember(from, to Role, at value.Instant) error {
	if err := p.May(ManageMembers, at); err != nil {
		return err
	}
	if highest := max(from, to); highest > p.role {
		return &RoleError{Permission: ManageMembers, Required: highest, Role: p.role}
	}
	if p.secondMember && from < rules[SaveDraft].least && to >= rules[SaveDraft].least {
		return p.May(AdmitBacker, at)
	}
	if to >= Admin && !p.confirmed(at) {
		return &ConfirmError{Permission: ManageMembers}
	}
	return nil
}

// Activation is what about the activation of a contract's version decides who
// may do it.
type Activation struct {
	// Weaker says that it cannot be shown to be as strict as the active version.
	Weaker bool
	// Backers are the members who saved this version or approved of it.
	Backers []MemberID
}

// MayActivate is [Principal.May] for [ActivateContract]; where the workspace
// wants it, a weaker version needs another member behind it too.
func (p Principal) MayActivate(a Activation, at value.Instant) error {
	if err := p.May(ActivateContract, at); err != nil {
		return err
	}
	if !a.Weaker || !p.secondMember {
		return nil
	}
	if !slices.ContainsFunc(a.Backers, func(m MemberID) bool { return m != p.member && m != "" }) {
		return &SecondMemberError{}
	}
	return nil
}
