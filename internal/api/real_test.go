package api

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/trail"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/vault"
)

// city is the surface over the real services and a database, with the clock of the
// test, and the members of two workspaces.
type city struct {
	*surface
	t        *testing.T
	store    store.Store
	accounts *account.Service
	ledgers  *ledger.Service
	evaluate *settlement.Evaluator
	clock    *clock
	ids      map[string]access.WorkspaceID // by the workspace's name
	owner    string                        // credential of Acme's owner
	other    string                        // and of Globex's
}

type clock struct {
	mu  sync.Mutex
	now value.Instant
}

func (c *clock) Now() value.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// ready says that the store answers.
type ready struct{ store.Store }

func (r ready) Ready(ctx context.Context) error { return r.Ping(ctx) }

func newCity(t *testing.T) *city {
	t.Helper()
	return newCityOn(t, nil)
}

// newCityOn is a city with plans.
func newCityOn(t *testing.T, plans *plan.Book) *city {
	t.Helper()
	c := &city{t: t, clock: &clock{now: testNow}, ids: map[string]access.WorkspaceID{}}
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(c.clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c.store = s
	secret, err := vault.LoadOrMake(t.TempDir() + "/secret")
	if err != nil {
		t.Fatal(err)
	}
	if c.accounts, err = account.New(s, c.clock.Now); err != nil {
		t.Fatal(err)
	}
	actions := action.NewService(s, action.Options{Random: rand.NewChaCha8([32]byte{7}), Plans: plans})
	facts, contracts := intake.NewService(s), governance.New(s, plans)
	c.ledgers = ledger.New(s, secret)
	c.evaluate = settlement.NewEvaluator(s, settlement.Options{OnFailure: func(_ access.WorkspaceID, ref store.Ref, err error) {
		t.Errorf("evaluate %s: %v", ref, err)
	}})
	c.surface = start(t, Services{
		Authenticator: c.accounts, Sessions: c.accounts, Members: c.accounts, Keys: c.accounts, Workspaces: c.accounts,
		ActionRecorder: actions, ActionReader: actions, Trials: actions, Facts: facts, Sources: facts,
		ContractReader: contracts, ContractAuthor: contracts, ContractOwner: contracts,
		Ledger: c.ledgers, Trail: trail.New(s, c.clock.Now, plans), Readiness: ready{s},
	}, func(o *Options) { o.Now = c.clock.Now })
	c.owner, c.other = c.found("Acme", "ada@example.com"), c.found("Globex", "bob@example.com")
	return c
}

// found makes a workspace, and lets its owner in by the link.
func (c *city) found(name, email string) string {
	c.t.Helper()
	made, err := c.accounts.CreateWorkspace(c.t.Context(), name, email)
	if err != nil {
		c.t.Fatal(err)
	}
	c.ids[name] = made.Workspace.ID
	g := c.must(http.StatusCreated, ask{method: post, path: "/v1/session", body: fmt.Sprintf(`{"link":%q}`, made.Link.Reveal())})
	return text(c.t, g, "token")
}

// must sends a request and wants a status.
func (c *city) must(status int, a ask) got {
	c.t.Helper()
	g := c.do(a)
	if g.status != status {
		c.t.Fatalf("%s %s is answered with %d %s, want %d", a.method, a.path, g.status, g.body, status)
	}
	return g
}

// key makes an API key.
func (c *city) key(order string) string {
	c.t.Helper()
	return text(c.t, c.must(http.StatusCreated, ask{method: post, path: "/v1/keys", credential: c.owner, body: order}), "secret")
}

// stray makes a key for a source that the workspace does not have: what a key can be
// that came with a restored database, and cannot be made here.
func (c *city) stray(workspace, source string) string {
	c.t.Helper()
	var secret access.Secret
	err := c.store.Do(c.t.Context(), c.ids[workspace], func(tx store.Tx) error {
		w, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		order := access.KeyOrder{ID: "key_stray", Name: "stray", Scopes: access.ScopesOf(access.FactsWrite, access.ActionsRead, access.ConnectorsRead), Sources: []string{source}}
		key, made, err := access.MintKey(order, w.Workspace, crand.Reader, tx.Now())
		if err != nil {
			return err
		}
		tx.PutKey(key)
		secret = made
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return secret.Reveal()
}

// settle lets all that is due happen.
func (c *city) settle() {
	c.t.Helper()
	if err := c.evaluate.Drain(c.t.Context(), c.ids["Acme"]); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.ledgers.Sequence(c.t.Context(), c.ids["Acme"]); err != nil {
		c.t.Fatal(err)
	}
}

// text finds a text in an answer, by a path with dots; numbers are places in lists.
func text(t *testing.T, g got, path string) string {
	t.Helper()
	found := at(t, g, path)
	s, is := found.(string)
	if !is {
		t.Fatalf("%s is %v in %s", path, found, g.body)
	}
	return s
}

func at(t *testing.T, g got, path string) any {
	t.Helper()
	var node any
	if err := json.Unmarshal(g.body, &node); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(path, ".") {
		switch inner := node.(type) {
		case map[string]any:
			node = inner[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(inner) {
				t.Fatalf("there is no %s in %s", path, g.body)
			}
			node = inner[i]
		default:
			return nil
		}
	}
	return node
}

const refundContract = `contract: refund
applies_to: {action_type: refund_order}
params:
  amount: {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: attested}
link:
  - refs.key == action_id
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: single_cap, check: params.amount <= money("250.00 USD")}
`

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// govern makes the source and the contract, and lets it govern.
func (c *city) govern() {
	c.t.Helper()
	c.must(http.StatusCreated, ask{method: post, path: "/v1/sources", credential: c.owner, body: `{"name":"stripe","trust":"attested","provides":["refund.succeeded"]}`})
	c.must(http.StatusCreated, ask{method: post, path: "/v1/contracts", credential: c.owner, body: `{"yaml":` + quoted(refundContract) + `}`})
	c.must(http.StatusOK, ask{method: post, path: "/v1/contracts/refund/versions/1/activate", credential: c.owner, body: `{"mode":"live"}`})
}

const (
	recorderOrder = `{"name":"agent","preset":"recorder"}`
	evidenceOrder = `{"name":"billing","preset":"evidence","sources":["stripe"]}`
	readerOrder   = `{"name":"dashboard","preset":"reader"}`
)

func TestARefundGoesFromItsDeclarationToALeafThatIsProved(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	c.govern()
	agent, billing, dashboard := c.key(recorderOrder), c.key(evidenceOrder), c.key(readerOrder)

	declaration := ask{
		method: post, path: "/v1/actions", credential: agent,
		body: `{"action_id":"refund:o/1","contract_id":"refund","action_type":"refund_order","params":{"amount":180.00,"currency":"usd"},"odd":true}`,
	}
	g := c.must(http.StatusCreated, declaration)
	ref := text(t, g, "action.id")
	if g.header.Get("Location") != "/v1/actions/"+ref || text(t, g, "verification.badge") != "UNKNOWN" || text(t, g, "warnings.0.code") != "unknown_field" {
		t.Errorf("the declaration is answered with %s at %s", g.body, g.header.Get("Location"))
	}
	if !strings.Contains(string(g.body), `"amount":180.00`) {
		t.Errorf("the digits did not stay: %s", g.body)
	}
	if g = c.must(http.StatusOK, declaration); text(t, g, "recorded") != "replayed" {
		t.Errorf("the same again is %s", g.body)
	}
	other := declaration
	other.body = strings.Replace(other.body, "180.00", "190.00", 1)
	if g = c.must(http.StatusOK, other); text(t, g, "recorded") != "changed" || at(t, g, "action.revision") != 2.0 {
		t.Errorf("another content is %s", g.body)
	}

	g = c.must(http.StatusOK, ask{method: get, path: "/v1/actions/pending", credential: dashboard})
	if text(t, g, "actions.0.verification.waits.0.source") != "stripe" {
		t.Errorf("pending is %s", g.body)
	}
	c.clock.pass(time.Minute)
	fact := `{"facts":[{"source":"stripe","external_id":"re_1","type":"refund.succeeded","refs":{"key":"refund:o/1"},"attrs":{"amount":{"amount":"180.00","currency":"USD"}},"occurred_at":"2026-11-02T12:00:30Z"}]}`
	push := ask{method: post, path: "/v1/facts", credential: billing, body: fact}
	if g = c.must(http.StatusOK, push); at(t, g, "new") != 1.0 {
		t.Errorf("the fact is %s", g.body)
	}
	if g = c.must(http.StatusOK, push); at(t, g, "known") != 1.0 {
		t.Errorf("the same fact again is %s", g.body)
	}
	c.clock.pass(73 * time.Hour)
	c.must(http.StatusOK, ask{
		method: put, path: "/v1/sources/stripe/watermark", credential: billing,
		body: fmt.Sprintf(`{"watermarks":{"refund.succeeded":%q}}`, c.clock.Now()),
	})
	c.settle()

	// An action is found by both of its names, however they are escaped.
	for _, name := range []string{ref, "refund%3Ao%2F1", "refund:o%2f1"} {
		g = c.must(http.StatusOK, ask{method: get, path: "/v1/actions/" + name, credential: dashboard})
		if text(t, g, "verification.badge") != "PASS" || text(t, g, "verification.status") != "settled" || text(t, g, "revisions.0.badge") != "PASS" {
			t.Errorf("%s is %s", name, g.body)
		}
	}
	digest := text(t, g, "verification.digest")
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/verify/" + strings.TrimPrefix(digest, "sha256:"), credential: dashboard})
	if at(t, g, "found") != true || at(t, g, "included") != true || text(t, g, "kind") != "verdict" {
		t.Errorf("the verdict's digest is %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/ledger/proof?digest=" + digest, credential: dashboard})
	if text(t, g, "leaf.digest") != digest {
		t.Errorf("the proof is %s", g.body)
	}
	c.must(http.StatusOK, ask{method: get, path: "/v1/ledger/proof?from=1&to=2", credential: dashboard})
	if g = c.do(ask{method: get, path: "/v1/ledger/proof?from=1&to=99", credential: dashboard}); g.status != http.StatusBadRequest || g.error.Field != "to" {
		t.Errorf("a size that is not there is %d %s", g.status, g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/summary", credential: dashboard})
	if at(t, g, "total") != 1.0 || at(t, g, "contracts.0.badge.PASS") != 1.0 {
		t.Errorf("the summary is %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/actions?verdict=PASS&period=2026-11&limit=1", credential: dashboard})
	if text(t, g, "actions.0.action.id") != ref || text(t, g, "period.from") != "2026-11-01T00:00:00Z" {
		t.Errorf("the list is %s", g.body)
	}
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/facts?ref=key:refund:o/1", credential: dashboard})
	if text(t, g, "facts.0.external_id") != "re_1" {
		t.Errorf("the facts are %s", g.body)
	}
	c.must(http.StatusOK, ask{method: get, path: "/v1/facts/stripe/refund/re_1", credential: dashboard})
	g = c.must(http.StatusOK, ask{method: get, path: "/v1/orphans?contract_id=refund", credential: dashboard})
	if list, is := at(t, g, "orphans").([]any); !is || len(list) != 0 {
		t.Errorf("the orphans are %s", g.body)
	}
	g = c.must(http.StatusOK, ask{
		method: post, path: "/v1/contracts/dry-run", credential: dashboard,
		body: `{"contract_id":"refund","period":"2026-11","yaml":` + quoted(strings.Replace(refundContract, "250.00", "100.00", 1)) + `}`,
	})
	if at(t, g, "badge.FAIL") != 1.0 || text(t, g, "changed.0.is") != "FAIL" {
		t.Errorf("the dry run is %s", g.body)
	}
	if g = c.must(http.StatusOK, ask{method: get, path: "/v1/usage", credential: dashboard}); at(t, g, "actions.recorded") != 1.0 {
		t.Errorf("the usage is %s", g.body)
	}
}

func TestABatchIsRecordedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := newCity(t)
	c.govern()
	agent := c.key(recorderOrder)
	good, bad := `{"action_id":"a-1","contract_id":"refund"}`, `{"action_id":"a-2","contract_id":"refund","requested_at":"2026-11-02T12:00:00"}`
	batch := ask{method: post, path: "/v1/actions:batch", credential: agent, body: `{"actions":[` + good + `,` + bad + `]}`}
	g := c.must(http.StatusBadRequest, batch)
	if len(g.error.Errors) != 1 || g.error.Errors[0].Index == nil || *g.error.Errors[0].Index != 1 || g.error.Errors[0].Field != "requested_at" {
		t.Errorf("the batch is refused with %s", g.body)
	}
	c.must(http.StatusNotFound, ask{method: get, path: "/v1/actions/a-1", credential: agent})
	batch.body = `{"actions":[` + good + `,` + good + `]}`
	g = c.must(http.StatusOK, batch)
	if text(t, g, "results.0.recorded") != "new" || text(t, g, "results.1.recorded") != "replayed" {
		t.Errorf("the batch is %s", g.body)
	}
	limited := c.key(`{"name":"other","preset":"recorder","limits":{"contracts":["other"]}}`)
	batch.credential = limited
	if g = c.must(http.StatusForbidden, batch); len(g.error.Errors) != 2 || g.error.Errors[0].Field != "contract_id" {
		t.Errorf("a key for other contracts is refused with %s", g.body)
	}
	// The id is taken by an action that this key may not see.
	one := ask{method: post, path: "/v1/actions", credential: limited, body: `{"action_id":"a-1","contract_id":"other"}`}
	if g = c.must(http.StatusConflict, one); g.error.Field != "action_id" {
		t.Errorf("an id of an action that is not shown is %s", g.body)
	}
	c.must(http.StatusNotFound, ask{method: get, path: "/v1/actions/a-1", credential: limited})
	one.body = `{"contract_id":"refund"}`
	if g = c.must(http.StatusForbidden, one); g.error.Field != "contract_id" {
		t.Errorf("a contract that the key is not for is %s", g.body)
	}
}
