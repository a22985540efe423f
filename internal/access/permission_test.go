package access_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// Of each permission: what a signed-in member in each role may, and what a key
// that writes, one that reads and one that only drafts may. M: a signed-in member
// only, R: another role, -: yes.
const permissionTable = `
                        viewer analyst admin owner  recorder reader drafter
approve clients           -      -      -     -        M       M      M
reconcile                 R      -      -     -        -       R      R
open disputes             R      -      -     -        -       R      R
propose contracts         R      -      -     -        M       M      -
save drafts               R      -      -     -        M       M      M
decide disputes           R      R      -     -        M       M      M
activate contracts        R      R      -     -        M       M      M
manage keys               R      R      -     -        M       M      M
manage connections        R      R      -     -        M       M      M
change the trust of sources R    R      -     -        M       M      M
manage members            R      R      -     -        M       M      M
make sign-in links        R      R      R     -        M       M      M
let in who may stand behind a contract R R R  -        M       M      M
read the audit            R      R      -     -        M       M      M
change settings           R      R      R     -        M       M      M
erase a subject           R      R      R     -        M       M      M
delete the workspace      R      R      R     -        M       M      M
transfer the workspace    R      R      R     -        M       M      M
`

func TestPermissionsGoByRoleAndMostAreForSignedInMembers(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(permissionTable), "\n")
	columns := map[string]access.Principal{
		"recorder": fromKey(t, access.ScopesOf(access.ActionsRecord, access.ActionsRead), production, access.REST),
		"reader":   fromKey(t, access.ScopesOf(access.ActionsRead, access.ContractsDraft), production, access.REST),
		"drafter":  fromKey(t, access.ScopesOf(access.ContractsDraft), production, access.REST),
	}
	for role := access.Viewer; role <= access.Owner; role++ {
		columns[role.String()] = fromSession(t, access.Cookie, role, production, access.Page)
	}
	rows := map[string]bool{}
	for perm := access.GrantClient; perm <= access.TransferWorkspace; perm++ {
		for _, line := range lines[1:] {
			cells, found := strings.CutPrefix(line, perm.String()+" ")
			if !found {
				continue
			}
			rows[perm.String()] = true
			for i, name := range strings.Fields(lines[0]) {
				if got, want := verdictOn(columns[name].May(perm, noon)), strings.Fields(cells)[i]; got != want {
					t.Errorf("%s, %s: got %s, want %s", perm, name, got, want)
				}
			}
		}
	}
	if len(rows) != int(access.TransferWorkspace) || len(rows) != len(lines)-1 {
		t.Errorf("%d of %d permissions are in the table of %d", len(rows), access.TransferWorkspace, len(lines)-1)
	}
}

func verdictOn(err error) string {
	var role *access.RoleError
	var member *access.MemberOnlyError
	var confirm *access.ConfirmError
	switch {
	case err == nil:
		return "-"
	case errors.As(err, &role):
		return "R"
	case errors.As(err, &member):
		return "M"
	case errors.As(err, &confirm):
		return "C"
	}
	return err.Error()
}

func TestAModelHoldsNoPermissionWhateverItsMembersRole(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]access.Principal{
		"an owner's client over MCP":  fromOAuth(t, access.AllScopes(), access.Owner, access.MCP),
		"an owner's client over REST": fromOAuth(t, access.AllScopes(), access.Owner, access.REST),
		"an owner's page token":       fromSession(t, access.PageToken, access.Owner, production, access.MCP),
		"a recorder key over MCP":     fromKey(t, access.ScopesOf(access.ActionsRecord), production, access.MCP),
		"a drafter key over MCP":      fromKey(t, access.ScopesOf(access.ContractsDraft), production, access.MCP),
		"nobody":                      {},
	} {
		for perm := access.Permission(0); perm < 255; perm++ {
			if err := p.May(perm, noon); err == nil {
				t.Errorf("%s may %s", name, perm)
			}
		}
	}
}

func TestWhatCannotBeUndoneAsksAgainAfterAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	asks := map[access.Permission]bool{
		access.ActivateContract: true, access.ManageKeys: true, access.ChangeSettings: true, access.ChangeTrust: true, access.MakeLinks: true, access.AdmitBacker: true,
		access.EraseSubject: true, access.DeleteWorkspace: true, access.TransferWorkspace: true,
	}
	for _, kind := range []access.Kind{access.Cookie, access.Terminal} {
		p := fromSession(t, kind, access.Owner, production, access.REST)
		for perm := access.GrantClient; perm <= access.TransferWorkspace; perm++ {
			for after, within := range map[time.Duration]bool{0: true, 15 * time.Minute: true, 15*time.Minute + time.Microsecond: false, -time.Microsecond: false} {
				want := "-"
				if asks[perm] && !within {
					want = "C"
				}
				if got := verdictOn(p.May(perm, noon.Add(after))); got != want {
					t.Errorf("%s %s after a proof of presence, %s: got %s, want %s", kind, after, perm, got, want)
				}
			}
		}
	}
	never := session(access.Cookie)
	never.ConfirmedAt = 0
	p, err := access.FromSession(never, membership(access.Owner), production, access.Page, noon)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "no proof at all", p.May(access.DeleteWorkspace, noon), access.ConfirmationRequired)
}

func TestNobodyRaisesAnybodyAboveThemselves(t *testing.T) {
	t.Parallel()
	for as := access.Role(0); as <= access.Owner; as++ {
		var p access.Principal
		if as != 0 {
			p = fromSession(t, access.Cookie, as, production, access.Page)
		}
		for from := access.Role(0); from <= access.Owner; from++ {
			for to := access.Role(0); to <= access.Owner; to++ {
				want := as >= access.Admin && from <= as && to <= as
				if err := p.MayChangeMember(from, to, noon); (err == nil) != want {
					t.Errorf("%s changes %s to %s: %v", as, from, to, err)
				}
			}
		}
	}
}

// Whoever may save a draft may be the second member behind a contract. One admin who
// invites somebody would be two.
func TestWhereAWeakerContractTakesTwoMembersOnlyAnOwnerLetsTheSecondIn(t *testing.T) {
	t.Parallel()
	strict := production
	strict.SecondMember = true
	for as := access.Admin; as <= access.Owner; as++ {
		p := fromSession(t, access.Cookie, as, strict, access.Page)
		for from := access.Role(0); from <= as; from++ {
			for to := access.Role(0); to <= as; to++ {
				want := "-"
				if as == access.Admin && from < access.Analyst && to >= access.Analyst {
					want = "R"
				}
				if got := verdictOn(p.MayChangeMember(from, to, noon)); got != want {
					t.Errorf("%s changes %s to %s: got %s, want %s", as, from, to, got, want)
				}
			}
		}
	}
	owner := fromSession(t, access.Cookie, access.Owner, strict, access.Page)
	if got := verdictOn(owner.MayChangeMember(access.Viewer, access.Analyst, noon.Add(access.ConfirmedFor+1000))); got != "C" {
		t.Errorf("an owner a while after a proof of presence: got %s, want C", got)
	}
}

// A quarter of an hour after the last proof, and a moment more.
func TestMakingAnAdminOrAnOwnerAsksAgain(t *testing.T) {
	t.Parallel()
	late := noon.Add(15*time.Minute + time.Microsecond)
	p := fromSession(t, access.Terminal, access.Owner, production, access.REST)
	for from := access.Role(0); from <= access.Owner; from++ {
		for to := access.Role(0); to <= access.Owner; to++ {
			want := "-"
			if to == access.Admin || to == access.Owner {
				want = "C"
			}
			if got := verdictOn(p.MayChangeMember(from, to, late)); got != want {
				t.Errorf("%s to %s: got %s, want %s", from, to, got, want)
			}
		}
	}
}

func TestAWeakerContractNeedsASecondMemberWhereTheWorkspaceSaysSo(t *testing.T) {
	t.Parallel()
	careful := access.Workspace{ID: home, SecondMember: true}
	for name, c := range map[string]struct {
		workspace access.Workspace
		weaker    bool
		backers   []access.MemberID
		want      bool
	}{
		"not weaker":                      {careful, false, nil, true},
		"weaker, and nobody asks":         {production, true, nil, true},
		"weaker, and nobody is behind it": {careful, true, nil, false},
		"weaker, and only the activator":  {careful, true, []access.MemberID{"m-ada", "m-ada"}, false},
		"weaker, and somebody unnamed":    {careful, true, []access.MemberID{""}, false},
		"weaker, and another member":      {careful, true, []access.MemberID{"m-ada", "m-bob"}, true},
	} {
		p := fromSession(t, access.Cookie, access.Admin, c.workspace, access.Page)
		err := p.MayActivate(access.Activation{Weaker: c.weaker, Backers: c.backers}, noon)
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	analyst := fromSession(t, access.Cookie, access.Analyst, careful, access.Page)
	err := analyst.MayActivate(access.Activation{Weaker: true, Backers: []access.MemberID{"m-bob"}}, noon)
	if verdictOn(err) != "R" {
		t.Errorf("an analyst with a second member: %v", err)
	}
}
