package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// looser is the contract with a window that is not shown to be as strict.
var looser = strings.Replace(refundContract, "within: 48h", "within: 60h", 1)

func (c *city) push(contract string) {
	c.t.Helper()
	c.must(http.StatusCreated, ask{method: post, path: "/v1/contracts", credential: c.owner, body: `{"yaml":` + quoted(contract) + `}`})
}

// member invites somebody and lets them in.
func (c *city) member(email, role string) (credential, id string) {
	c.t.Helper()
	g := c.must(http.StatusCreated, ask{method: post, path: "/v1/members", credential: c.owner, body: fmt.Sprintf(`{"email":%q,"role":%q}`, email, role)})
	id = text(c.t, g, "member.id")
	g = c.must(http.StatusCreated, ask{method: post, path: "/v1/session", body: fmt.Sprintf(`{"link":%q}`, text(c.t, g, "link.token"))})
	return text(c.t, g, "token"), id
}

// Every 404 and 409 that the description has is one that the real services give.
func TestWhatIsMissingOrStandsInTheWayIsAnsweredByTheRealServices(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	dashboard := c.key(readerOrder)
	stray := c.stray("Acme", "nowhere")
	for _, one := range []struct {
		status int
		ask    ask
	}{
		{404, ask{method: get, path: "/v1/ledger/checkpoint", credential: dashboard}},
		{404, ask{method: get, path: "/v1/ledger/proof?digest=" + sampleDigest, credential: dashboard}},
		{404, ask{method: post, path: "/v1/contracts/refund/retire", credential: c.owner}},
		{404, ask{method: get, path: "/v1/orphans?contract_id=refund", credential: dashboard}},
	} {
		c.must(one.status, one.ask)
	}
	c.govern()
	agent, limited := c.key(recorderOrder), c.key(`{"name":"other","preset":"recorder","limits":{"agents":["other"]}}`)
	c.must(http.StatusCreated, ask{method: post, path: "/v1/actions", credential: agent, body: `{"action_id":"a-1","contract_id":"refund"}`})
	_, grace := c.member("grace@example.com", "analyst")
	g := c.must(http.StatusOK, ask{method: get, path: "/v1/session", credential: c.owner})
	owner := text(t, g, "session.member.id")
	if err := c.accounts.AddMember(t.Context(), c.ids["Globex"], "grace@example.com", 1); err != nil {
		t.Fatal(err)
	}

	for _, one := range []struct {
		status int
		ask    ask
	}{
		{409, ask{method: post, path: "/v1/actions", credential: limited, body: `{"action_id":"a-1","agent_id":"other","subject_id":"s"}`}},
		{409, ask{method: post, path: "/v1/actions:batch", credential: limited, body: `{"actions":[{"action_id":"a-1","agent_id":"other","subject_id":"s"}]}`}},
		{404, ask{method: get, path: "/v1/actions/nothing", credential: agent}},
		{404, ask{method: get, path: "/v1/facts/stripe/refund/re_1", credential: dashboard}},
		{409, ask{method: post, path: "/v1/sources", credential: c.owner, body: `{"name":"stripe"}`}},
		{404, ask{method: get, path: "/v1/sources/nowhere", credential: dashboard}},
		{404, ask{method: patch, path: "/v1/sources/nowhere", credential: c.owner, body: `{"title":"x"}`}},
		{404, ask{method: put, path: "/v1/sources/nowhere/watermark", credential: stray, body: `{"watermarks":{"refund.succeeded":"2026-11-02T11:00:00Z"}}`}},
		{404, ask{method: get, path: "/v1/contracts/nothing", credential: dashboard}},
		{404, ask{method: get, path: "/v1/contracts/nothing/versions", credential: dashboard}},
		{404, ask{method: get, path: "/v1/contracts/refund/versions/9", credential: dashboard}},
		{404, ask{method: get, path: "/v1/contracts/refund/versions/01", credential: dashboard}},
		{404, ask{method: get, path: "/v1/contracts/refund/diff?from=1&to=9", credential: dashboard}},
		{404, ask{method: post, path: "/v1/contracts/dry-run", credential: dashboard, body: `{"contract_id":"refund","version":9,"period":"2026-11"}`}},
		{404, ask{method: post, path: "/v1/contracts/draft", credential: dashboard, body: `{"action_type":"nothing"}`}},
		{404, ask{method: post, path: "/v1/contracts/refund/versions/9/approve", credential: c.owner}},
		{409, ask{method: post, path: "/v1/contracts/refund/versions/1/approve", credential: c.owner}},
		{404, ask{method: post, path: "/v1/contracts/refund/versions/9/activate", credential: c.owner, body: `{"mode":"live"}`}},
		{409, ask{method: post, path: "/v1/members", credential: c.owner, body: `{"email":"ada@example.com","role":"viewer"}`}},
		{404, ask{method: post, path: "/v1/members/nobody/link", credential: c.owner}},
		{409, ask{method: post, path: "/v1/members/" + grace + "/link", credential: c.owner}},
		{404, ask{method: patch, path: "/v1/members/nobody", credential: c.owner, body: `{"role":"viewer"}`}},
		{409, ask{method: patch, path: "/v1/members/" + owner, credential: c.owner, body: `{"role":"viewer"}`}},
		{404, ask{method: remove, path: "/v1/members/nobody", credential: c.owner}},
		{409, ask{method: remove, path: "/v1/members/" + owner, credential: c.owner}},
		{404, ask{method: post, path: "/v1/keys/nothing/rotate", credential: c.owner, body: `{}`}},
		{404, ask{method: remove, path: "/v1/keys/nothing", credential: c.owner}},
	} {
		c.must(one.status, one.ask)
	}
	for _, e := range table() {
		for _, status := range e.errors {
			if (status == http.StatusNotFound || status == http.StatusConflict) && !c.seen[e.route()][status] {
				t.Errorf("%s says that it answers %d, and nothing here brings it about", e.route(), status)
			}
		}
	}
}

func TestAWeakerContractNeedsASecondMember(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	c.govern()
	c.must(http.StatusOK, ask{method: patch, path: "/v1/workspace", credential: c.owner, body: `{"second_member":true}`})
	c.push(looser)
	g := c.must(http.StatusOK, ask{method: get, path: "/v1/contracts/refund/diff?from=1&to=2", credential: c.owner})
	if at(t, g, "suspect") != true || text(t, g, "changes.0.what") != "window_wider" {
		t.Errorf("the difference is %s", g.body)
	}
	activate := ask{method: post, path: "/v1/contracts/refund/versions/2/activate", credential: c.owner, body: `{"mode":"live"}`}
	wantError(t, c.do(activate), http.StatusForbidden, "forbidden")
	grace, _ := c.member("grace@example.com", "analyst")
	g = c.must(http.StatusOK, ask{method: post, path: "/v1/contracts/refund/versions/2/approve", credential: grace})
	if text(t, g, "version.status") != "draft" || len(at(t, g, "version.approvers").([]any)) != 1 {
		t.Errorf("the version is %s", g.body)
	}
	if g = c.must(http.StatusOK, activate); text(t, g, "recorded") != "new" || text(t, g, "version.status") != "active" {
		t.Errorf("the activation is %s", g.body)
	}
	if g = c.must(http.StatusOK, activate); text(t, g, "recorded") != "known" {
		t.Errorf("the activation once more is %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/contracts/refund", credential: c.owner})
	if at(t, g, "contract.active") != 2.0 || text(t, g, "versions.0.status") != "superseded" {
		t.Errorf("the contract is %s", g.body)
	}
	c.clock.pass(20 * time.Minute)
	activate.path = "/v1/contracts/refund/versions/1/activate"
	wantError(t, c.do(activate), http.StatusForbidden, "confirmation_required")
}

func TestATextThatIsNoContractIsRefusedWithItsPlaces(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	wrong := `{"yaml":"contract: refund\nsteps:\n  - {id: moved, expct: refund.succeeded}\n"}`
	g := c.must(http.StatusBadRequest, ask{method: post, path: "/v1/contracts", credential: c.owner, body: wrong})
	if g.error.Code != "invalid_contract" || len(g.error.Errors) == 0 || g.error.Errors[0].Line == 0 {
		t.Errorf("it is refused with %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: post, path: "/v1/contracts/validate", credential: c.owner, body: wrong})
	if at(t, g, "valid") != false || at(t, g, "rules") != nil || at(t, g, "errors.0.message") == nil {
		t.Errorf("the validation is %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: post, path: "/v1/contracts/validate", credential: c.owner, body: `{"yaml":` + quoted(refundContract) + `}`})
	if at(t, g, "valid") != true || text(t, g, "sources.0.code") != "source_unknown" || text(t, g, "rules.settles_after") != "72h" {
		t.Errorf("the validation is %s", g.body)
	}
	builder := c.key(`{"name":"build","scopes":["contracts:draft"]}`)
	g = c.must(http.StatusCreated, ask{method: post, path: "/v1/contracts", credential: builder, body: `{"yaml":` + quoted(refundContract) + `}`})
	if !strings.HasPrefix(text(t, g, "version.saved_by"), "apikey:") || text(t, g, "page") != "https://deed.example.com/contracts/refund/versions/1" {
		t.Errorf("the proposal is %s", g.body)
	}
}

func TestPeopleComeInAreThrownOutAndLockedOut(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	grace, id := c.member("grace@example.com", "admin")
	g := c.must(http.StatusOK, ask{method: get, path: "/v1/session", credential: grace})
	if text(t, g, "session.role") != "admin" || text(t, g, "session.workspace.name") != "Acme" || text(t, g, "session.actor") != "grace@example.com" {
		t.Errorf("the session is %s", g.body)
	}
	old := grace
	g = c.must(http.StatusCreated, ask{method: post, path: "/v1/session/password", credential: grace, body: `{"password":"correct horse battery"}`})
	grace = text(t, g, "token")
	c.must(http.StatusUnauthorized, ask{method: get, path: "/v1/session", credential: old})
	c.clock.pass(20 * time.Minute)
	key := ask{method: post, path: "/v1/keys", credential: grace, body: recorderOrder}
	wantError(t, c.do(key), http.StatusForbidden, "confirmation_required")
	wantError(t, c.do(ask{method: post, path: "/v1/session/confirm", credential: grace, body: `{"password":"wrong"}`}), http.StatusUnauthorized, "unauthenticated")
	c.must(http.StatusOK, ask{method: post, path: "/v1/session/confirm", credential: grace, body: `{"password":"correct horse battery"}`})
	g = c.must(http.StatusCreated, key)
	secret, keyID := text(t, g, "secret"), text(t, g, "key.id")
	g = c.must(http.StatusCreated, ask{method: post, path: "/v1/keys/" + keyID + "/rotate", credential: grace, body: `{"overlap":"1h"}`})
	fresh := text(t, g, "secret")
	for _, works := range []string{secret, fresh} {
		c.must(http.StatusOK, ask{method: get, path: "/v1/workspace", credential: works})
	}
	c.must(http.StatusNoContent, ask{method: remove, path: "/v1/keys/" + keyID, credential: grace})
	c.must(http.StatusNoContent, ask{method: remove, path: "/v1/keys/" + keyID, credential: grace})
	wantError(t, c.do(ask{method: get, path: "/v1/workspace", credential: secret}), http.StatusUnauthorized, "unauthenticated")
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/keys", credential: grace})
	if !strings.Contains(string(g.body), `"status":"revoked"`) || strings.Contains(string(g.body), fresh) {
		t.Errorf("the keys are %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/audit", credential: grace})
	if text(t, g, "entries.0.event") != "key.revoked" || text(t, g, "entries.0.actor") != "grace@example.com" {
		t.Errorf("the audit is %s", g.body)
	}
	wantError(t, c.do(ask{method: post, path: "/v1/members/" + id + "/link", credential: c.owner}), http.StatusForbidden, "confirmation_required")
	wantError(t, c.do(ask{method: post, path: "/v1/members", credential: c.owner, body: `{"email":"eve@example.com","role":"admin"}`}), http.StatusForbidden, "confirmation_required")
	c.confirm("Acme", "ada@example.com")
	c.must(http.StatusOK, ask{method: post, path: "/v1/session/confirm", credential: c.link(id), body: `{"password":"correct horse battery"}`})
	c.must(http.StatusNoContent, ask{method: remove, path: "/v1/members/" + id, credential: c.owner})
	c.must(http.StatusUnauthorized, ask{method: get, path: "/v1/session", credential: grace})

	signIn := ask{method: post, path: "/v1/session", body: `{"email":"ada@example.com","password":"not the one"}`}
	for range 100 {
		if g = c.do(signIn); g.status == http.StatusTooManyRequests {
			break
		}
		wantError(t, g, http.StatusUnauthorized, "unauthenticated")
	}
	if g.status != http.StatusTooManyRequests || g.error.RetryAfter < 1 {
		t.Errorf("after a hundred wrong passwords the answer is %d %s", g.status, g.body)
	}
}

// link signs a member in again by a link that their owner makes.
func (c *city) link(id string) string {
	c.t.Helper()
	g := c.must(http.StatusCreated, ask{method: post, path: "/v1/members/" + id + "/link", credential: c.owner})
	return text(c.t, c.must(http.StatusCreated, ask{method: post, path: "/v1/session", body: fmt.Sprintf(`{"link":%q}`, text(c.t, g, "link.token"))}), "token")
}

// confirm proves that the owner is there, by a link of whoever runs the server.
func (c *city) confirm(workspace, email string) {
	c.t.Helper()
	link, err := c.accounts.ConsoleLink(c.t.Context(), c.ids[workspace], email)
	if err != nil {
		c.t.Fatal(err)
	}
	c.must(http.StatusOK, ask{method: post, path: "/v1/session/confirm", credential: c.owner, body: fmt.Sprintf(`{"link":%q}`, link.Reveal())})
}

func TestAWorkspaceIsDeletedByItsName(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	g := c.must(http.StatusBadRequest, ask{method: remove, path: "/v1/workspace?confirm=Globex", credential: c.owner})
	if g.error.Field != "confirm" {
		t.Errorf("another name is refused with %s", g.body)
	}
	c.must(http.StatusNoContent, ask{method: remove, path: "/v1/workspace?confirm=Acme", credential: c.owner})
	c.must(http.StatusUnauthorized, ask{method: get, path: "/v1/workspace", credential: c.owner})
	c.must(http.StatusOK, ask{method: get, path: "/v1/workspace", credential: c.other})
}
