package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
)

// Whatever Acme has, nobody of Globex finds it, whichever endpoint is asked with
// whichever id: the answer is the one that nothing gets.
func TestNothingOfOneWorkspaceIsFoundFromAnother(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	c.govern()
	agent, billing := c.key(recorderOrder), c.key(evidenceOrder)
	g := c.must(http.StatusCreated, ask{method: post, path: "/v1/actions", credential: agent, body: `{"action_id":"acme-action","contract_id":"refund","action_type":"refund_order"}`})
	ref := text(t, g, "action.id")
	c.must(http.StatusOK, ask{method: post, path: "/v1/facts", credential: billing, body: `{"facts":[{"source":"stripe","external_id":"re_acme","type":"refund.succeeded","occurred_at":"2026-11-02T12:00:00Z"}]}`})
	c.settle()
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/ledger/checkpoint", credential: agent})
	checkpoint := text(t, g, "checkpoint")
	_, grace := c.member("grace@acme.example", "viewer")
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/keys", credential: c.owner})
	keyID := text(t, g, "keys.0.id")
	leaf := text(t, c.must(http.StatusOK, ask{method: get, path: "/v1/ledger/proof?digest=" + c.activationDigest(), credential: agent}), "leaf.digest")

	owner := c.owner
	c.owner = c.other
	reader := c.key(readerOrder)
	writer := c.stray("Globex", "stripe") // a source of this name, which Globex has not
	c.owner = owner

	// What stands in the samples is put in the place of Acme's ids.
	theirs := map[string]string{
		"/v1/actions/{ref}":                         "/v1/actions/acme-action",
		"/v1/facts/{source}/{family}/{external_id}": "/v1/facts/stripe/refund/re_acme",
		"/v1/sources/{source}":                      "/v1/sources/stripe",
		"/v1/sources/{source}/watermark":            "/v1/sources/stripe/watermark",
		"/v1/contracts/{id}":                        "/v1/contracts/refund",
		"/v1/contracts/{id}/versions":               "/v1/contracts/refund/versions",
		"/v1/contracts/{id}/versions/{n}":           "/v1/contracts/refund/versions/1",
		"/v1/contracts/{id}/diff":                   "/v1/contracts/refund/diff?from=1&to=1",
		"/v1/contracts/{id}/versions/{n}/approve":   "/v1/contracts/refund/versions/1/approve",
		"/v1/contracts/{id}/versions/{n}/activate":  "/v1/contracts/refund/versions/1/activate",
		"/v1/contracts/{id}/retire":                 "/v1/contracts/refund/retire",
		"/v1/members/{id}":                          "/v1/members/" + grace,
		"/v1/members/{id}/link":                     "/v1/members/" + grace + "/link",
		"/v1/keys/{id}":                             "/v1/keys/" + keyID,
		"/v1/keys/{id}/rotate":                      "/v1/keys/" + keyID + "/rotate",
		"/v1/verify/{hash}":                         "/v1/verify/" + leaf,
		"/v1/ledger/proof":                          "/v1/ledger/proof?digest=" + leaf,
		"/v1/orphans":                               "/v1/orphans?contract_id=refund",
		"/v1/actions":                               "/v1/actions?action_id=acme-action",
		"/v1/actions/pending":                       "/v1/actions/pending?action_id=acme-action",
		"/v1/facts":                                 "/v1/facts?external_id=re_acme",
	}
	secrets := []string{"acme", ref, keyID, grace, checkpoint, "Acme", "ada@example.com"}
	for _, e := range table() {
		path := theirs[e.path]
		if path == "" {
			if strings.Contains(e.path, "{") {
				t.Errorf("%s is not tried", e.route())
			}
			if path = samples[e.route()].path; e.method != get || !e.need.credential {
				continue
			}
		}
		asked := ask{method: e.method, path: path, credential: c.other, body: samples[e.route()].body}
		switch {
		case e.need.scope.Writes() && e.path != "/v1/actions":
			asked.credential = writer
		case e.need.scope.Writes():
			continue // makes an action of its own
		case e.need.scope != 0:
			asked.credential = reader
		}
		g := c.do(asked)
		for _, secret := range secrets {
			if strings.Contains(string(g.body), secret) && !strings.Contains(path, secret) {
				t.Errorf("%s %s tells of another workspace: %s", e.method, path, g.body)
			}
		}
		if strings.Contains(e.path, "{") && e.path != "/v1/verify/{hash}" && g.status != http.StatusNotFound {
			t.Errorf("%s %s is answered with %d %s", e.method, path, g.status, g.body)
		}
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/verify/" + leaf, credential: reader})
	if at(t, g, "found") != false {
		t.Errorf("a leaf of another ledger is %s", g.body)
	}
	// And nothing happened to it.
	c.must(http.StatusOK, ask{method: get, path: "/v1/actions/acme-action", credential: agent})
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/contracts/refund", credential: c.owner})
	if at(t, g, "contract.active") != 1.0 {
		t.Errorf("the contract is %s", g.body)
	}
	if g = c.must(http.StatusOK, ask{method: get, path: "/v1/keys", credential: c.owner}); strings.Contains(string(g.body), "revoked") {
		t.Errorf("the keys are %s", g.body)
	}
}

// activationDigest is a leaf's that anybody with the database could compute.
func (c *city) activationDigest() string {
	c.t.Helper()
	versions, err := c.server.services.ContractReader.Versions(c.t.Context(), c.who(c.owner), "refund")
	if err != nil {
		c.t.Fatal(err)
	}
	return activationLeaf(&versions[0])
}

func activationLeaf(v *store.ContractVersion) string {
	l := ledger.Activation(v)
	return l.Digest
}

// who is the principal of a credential.
func (c *city) who(credential string) access.Principal {
	c.t.Helper()
	p, err := c.accounts.Authenticate(c.t.Context(), account.Credential{Text: credential}, access.REST)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}
