package api

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/trail"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// fake is all services at once. Each answers something that its real one could, or
// fails.
type fake struct {
	err error
	// oops makes every service panic.
	oops bool
	// replayed says that what is sent was there already.
	replayed bool
}

// fakes are services that answer.
func fakes() Services { return (&fake{}).services() }

func (f *fake) services() Services {
	return Services{
		Authenticator: f, Readiness: f, ActionRecorder: f, ActionReader: fakeActions{f},
		Trials: f, Facts: fakeFacts{f}, Sources: f, ContractReader: f, ContractAuthor: f, ContractOwner: f,
		Ledger: f, Sessions: f, Members: f, Keys: f, Workspaces: f, Trail: f,
	}
}

const (
	fakeHome   = access.WorkspaceID("ws_home")
	fakeMember = access.MemberID("per_ada")
)

// person is a signed-in member, whose credential says what: "member:owner",
// "member:admin:stale" for one who has to confirm again.
func person(role access.Role, confirmedAt value.Instant) access.Principal {
	session := access.Session{
		ID: "ses_1", Kind: access.Terminal, Workspace: fakeHome, Member: fakeMember,
		IssuedAt: testNow.Add(-time.Hour), ExpiresAt: testNow.Add(time.Hour), ConfirmedAt: confirmedAt,
	}
	place := access.Membership{Workspace: fakeHome, Member: fakeMember, Email: "ada@example.com", Role: role}
	p, err := access.FromSession(session, place, access.Workspace{ID: fakeHome}, access.REST, testNow)
	if err != nil {
		panic(err)
	}
	return p
}

// keyOf is the principal of a key with these scopes.
func keyOf(scopes access.Scopes, via access.Surface) access.Principal {
	key, secret := mintedKey(scopes)
	p, err := access.FromKey(secret, key, access.Workspace{ID: fakeHome, Development: true}, via, testNow)
	if err != nil {
		panic(err)
	}
	return p
}

func mintedKey(scopes access.Scopes) (access.Key, access.Secret) {
	o := access.KeyOrder{ID: "key_1", Name: "a key", Scopes: scopes}
	if scopes.Has(access.FactsWrite) {
		o.Sources = []string{"stripe"}
	}
	key, secret, err := access.MintKey(o, access.Workspace{ID: fakeHome, Development: true}, rand.NewChaCha8([32]byte{1}), testNow)
	if err != nil {
		panic(err)
	}
	return key, secret
}

// token is the principal of an OAuth client.
func token(scopes access.Scopes) access.Principal {
	t := access.Token{Client: "client", Workspace: fakeHome, Member: fakeMember, Scopes: scopes, ExpiresAt: testNow.Add(time.Hour)}
	place := access.Membership{Workspace: fakeHome, Member: fakeMember, Email: "ada@example.com", Role: access.Owner}
	p, err := access.FromOAuth(t, place, access.Workspace{ID: fakeHome}, access.REST, testNow)
	if err != nil {
		panic(err)
	}
	return p
}

// principals are whom the fake authenticator knows, by credential.
var principals = map[string]access.Principal{
	"owner":        person(access.Owner, testNow),
	"stale-owner":  person(access.Owner, testNow.Add(-time.Hour)),
	"viewer":       person(access.Viewer, testNow),
	"analyst":      person(access.Analyst, testNow),
	"admin":        person(access.Admin, testNow),
	"full-key":     keyOf(access.AllScopes(), access.REST),
	"drafting-key": keyOf(access.ScopesOf(access.ContractsDraft), access.REST),
	"token":        token(access.ScopesOf(access.UsageRead)),
}

func init() {
	for _, s := range access.AllScopes().List() {
		principals["key-without-"+s.String()] = keyOf(access.AllScopes().Without(s), access.REST)
	}
}

func (f *fake) Authenticate(_ context.Context, c account.Credential, via access.Surface) (access.Principal, error) {
	if p, known := principals[c.Text]; known && via == access.REST && !c.Cookie {
		return p, nil
	}
	return access.Principal{}, &access.UnknownKeyError{}
}

// fail is what every other method begins with.
func (f *fake) fail() error {
	if f.oops {
		panic("oops")
	}
	return f.err
}

func (f *fake) Ready(context.Context) error { return f.fail() }

func sampleAction() store.Action {
	return store.Action{
		Declared: store.Declared{
			Ref: "act_01kb3fz8s0q7m2x5v9c4e6t8wr", Revision: 1, By: "apikey:4fT9xK2b", SelfAttested: true,
			Declaration: verdict.Declaration{ActionID: "a-1", ContractID: "refund", ReceivedAt: testNow},
			Body:        []byte(`{"action_id":"a-1","contract_id":"refund","params":{"amount":180.00}}`),
		},
		Version: 3, Mode: verdict.Live, Revisions: 1,
	}
}

func sampleVerdict() verdict.Verdict {
	a := sampleAction()
	v, err := engine.Evaluate(&verdict.Case{Engine: verdict.Engine, At: testNow, Declarations: []verdict.Declaration{a.Declaration}})
	if err != nil {
		panic(err)
	}
	return v
}

func (f *fake) Declare(context.Context, access.Principal, *action.Declaration) (*action.Result, error) {
	r := sampleResult()
	if f.replayed {
		r.Recorded = action.Replayed
	}
	return &r, f.fail()
}

func sampleResult() action.Result {
	return action.Result{
		Recorded: action.New, Action: sampleAction(), Revision: 1, Verdict: sampleVerdict(),
		Warnings:  []action.Warning{{Code: action.OverAllowance, Message: "it is used up"}},
		Allowance: action.Allowance{Plan: "small", Period: "2026-11", Recorded: 11, Included: 10, Limited: true},
	}
}

func (f *fake) DeclareAll(_ context.Context, _ access.Principal, all []*action.Declaration) ([]action.Result, error) {
	results := make([]action.Result, len(all))
	for i := range all {
		results[i] = sampleResult()
	}
	return results, f.fail()
}

func (f *fake) Get(context.Context, access.Principal, string, int) (*governance.Read, error) {
	k := sampleContract()
	return &governance.Read{Version: sampleVersion(), Contract: k, Text: explanation.Explain(k)}, f.fail()
}

// reader is apart because two services have a method Get.
type fakeActions struct{ *fake }

func (f fakeActions) Get(context.Context, access.Principal, string) (*action.Found, error) {
	a, v := sampleAction(), sampleVerdict()
	return &action.Found{
		Action: a, Declarations: []store.Declared{a.Declared}, Verdict: v, Settled: []store.Settled{{Ref: a.Ref, Verdict: v}},
		Compensation: &verdict.Compensation{Of: "a-0", By: []verdict.Compensator{{ActionID: "a-9", DeclaredAt: testNow, Status: verdict.Settled, Outcome: verdict.Pass}}},
	}, f.fail()
}

func (f fakeActions) List(context.Context, access.Principal, store.Filter, store.Page) ([]store.Listed, store.Cursor, error) {
	return []store.Listed{{Action: sampleAction(), Verdict: sampleVerdict()}}, "c_next", f.fail()
}

func (f fakeActions) Pending(context.Context, access.Principal, store.Filter, store.Page) (*action.Pending, error) {
	v := sampleVerdict()
	v.Waits = []verdict.Wait{{Source: "stripe", Type: "refund.succeeded", Until: testNow}}
	return &action.Pending{Actions: []store.Listed{{Action: sampleAction(), Verdict: v}}, At: testNow, EvaluatedTo: testNow}, f.fail()
}

func (f fakeActions) Summary(context.Context, access.Principal, store.Filter) ([]store.ContractCount, error) {
	return []store.ContractCount{{
		ContractID: "refund", Badge: verdict.Fail, Outcome: verdict.Pass, Conformance: verdict.Fail, Status: verdict.Settled, Count: 7,
	}}, f.fail()
}

// fakeFacts is apart for its method List.
type fakeFacts struct{ *fake }

func sampleFact() store.Fact {
	amount, err := money.Parse("180.00 USD")
	if err != nil {
		panic(err)
	}
	return store.Fact{By: "apikey:7hQ2mN4c", Fact: evidence.Fact{
		Source: "stripe", ExternalID: "re_1", Type: "refund.succeeded", Refs: map[string]string{"key": "a-1"},
		Attrs:      map[string]value.Value{"amount": value.OfMoney(amount), "late": value.OfBool(true)},
		OccurredAt: testNow, IngestedAt: testNow, Retracted: true, Mode: evidence.Event, Revision: 2,
	}}
}

func (f fakeFacts) Push(_ context.Context, _ access.Principal, facts []intake.Fact) ([]bool, error) {
	return make([]bool, len(facts)), f.fail()
}

func (f fakeFacts) List(context.Context, access.Principal, store.FactFilter, store.Page) ([]store.Fact, store.Cursor, error) {
	return []store.Fact{sampleFact()}, "c_next", f.fail()
}

func (f fakeFacts) Revisions(context.Context, access.Principal, evidence.Identity) ([]store.Fact, error) {
	return []store.Fact{sampleFact()}, f.fail()
}

func sampleSource() store.SourceState {
	return store.SourceState{
		Source: evidence.Source{Name: "stripe", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"refund.succeeded": testNow}},
		Title:  "Stripe", CreatedAt: testNow, CreatedBy: "ada@example.com", Facts: 7,
	}
}

func (f *fake) Sources(context.Context, access.Principal) ([]store.SourceState, error) {
	return []store.SourceState{sampleSource()}, f.fail()
}

func (f *fake) Source(context.Context, access.Principal, string) (*store.SourceState, error) {
	s := sampleSource()
	return &s, f.fail()
}

func (f *fake) CreateSource(context.Context, access.Principal, intake.SourceOrder) (*store.SourceState, error) {
	s := sampleSource()
	return &s, f.fail()
}

func (f *fake) ChangeSource(context.Context, access.Principal, string, intake.SourceChange) (*store.SourceState, error) {
	s := sampleSource()
	return &s, f.fail()
}

func (f *fake) PutWatermarks(context.Context, access.Principal, string, map[string]value.Instant) (*store.SourceState, error) {
	s := sampleSource()
	return &s, f.fail()
}

const sampleYAML = "contract: refund\nparams:\n  amount: {type: money, currency: USD, required: true}\nsettle: {after: 72h}\nsources:\n  stripe: {trust: independent}\nlink:\n  - refs.key == action_id\nsteps:\n  - {id: moved, expect: refund.succeeded, from: stripe, within: 48h}\n"

func sampleContract() *contract.Contract {
	k, err := contract.Parse([]byte(sampleYAML))
	if err != nil {
		panic(err)
	}
	return k
}

func sampleVersion() store.ContractVersion {
	k := sampleContract()
	return store.ContractVersion{
		ContractID: k.ID, Version: 1, Digest: k.Digest, Text: k.Text, Note: "the first", SavedAt: testNow, SavedBy: "ada@example.com",
		Saver: fakeMember, Approvers: []access.MemberID{fakeMember}, Mode: verdict.Live, From: testNow, ActivatedBy: "ada@example.com",
	}
}

func (f *fake) List(context.Context, access.Principal) ([]governance.Summary, error) {
	v := sampleVersion()
	return []governance.Summary{{ContractID: v.ContractID, Active: &v, Latest: v, Versions: 1}}, f.fail()
}

func (f *fake) Versions(context.Context, access.Principal, string) ([]store.ContractVersion, error) {
	return []store.ContractVersion{sampleVersion()}, f.fail()
}

func (f *fake) Diff(context.Context, access.Principal, string, int, int) (*governance.Difference, error) {
	return &governance.Difference{From: sampleVersion(), To: sampleVersion()}, f.fail()
}

func (f *fake) Validate(_ context.Context, _ access.Principal, yaml []byte) (*governance.Validation, error) {
	k, err := contract.Parse(yaml)
	if err != nil {
		return &governance.Validation{Problems: err.(contract.Problems)}, f.fail() //nolint:errorlint // the parser's own
	}
	v := sampleVersion()
	return &governance.Validation{
		Contract: k, Text: explanation.Explain(k), Against: &v,
		Sources: []governance.SourceProblem{{Source: "stripe", Code: "source_unknown", Message: "no source"}},
	}, f.fail()
}

func (f *fake) Draft(context.Context, access.Principal, governance.DraftOrder) (*governance.Drafted, error) {
	return &governance.Drafted{Proposal: &draft.Proposal{YAML: sampleYAML, Warnings: []draft.Warning{{Code: "few_actions", Text: "few"}}}}, f.fail()
}

func (f *fake) Save(context.Context, access.Principal, []byte, string) (*governance.Saved, error) {
	return &governance.Saved{Version: sampleVersion(), Contract: sampleContract(), New: !f.replayed, Path: "/contracts/refund/versions/1"}, f.fail()
}

func (f *fake) Propose(ctx context.Context, p access.Principal, yaml []byte, note string) (*governance.Saved, error) {
	return f.Save(ctx, p, yaml, note)
}

func (f *fake) Approve(context.Context, access.Principal, string, int) (*store.ContractVersion, error) {
	v := sampleVersion()
	return &v, f.fail()
}

func (f *fake) Activate(context.Context, access.Principal, string, int, verdict.Mode) (*governance.Activated, error) {
	return &governance.Activated{Version: sampleVersion(), New: true}, f.fail()
}

func (f *fake) Retire(context.Context, access.Principal, string) (*store.ContractVersion, error) {
	v := sampleVersion()
	v.Until = testNow
	return &v, f.fail()
}

func sampleCheckpoint() *ledger.Checkpoint {
	return &ledger.Checkpoint{Checkpoint: tlog.Checkpoint{Origin: "o", Size: 1, Root: sampleLeafHash()}, Signed: []byte("o\n1\n"), VerifierKey: "o+k"}
}

func sampleLeaf() store.Leaf {
	return store.Leaf{Kind: ledger.DeclarationKind, Object: "act_1/1", Digest: sampleDigest, At: testNow}
}

func sampleLeafHash() tlog.Hash {
	l := sampleLeaf()
	return ledger.Hash(&l)
}

const sampleDigest = "sha256:3573a84c5eaa25a04b047079c35a7ceff2c3511dec845a9a9485781cd3115eed"

func (f *fake) Checkpoint(context.Context, access.WorkspaceID) (*ledger.Checkpoint, error) {
	return sampleCheckpoint(), f.fail()
}

func (f *fake) Inclusion(context.Context, access.WorkspaceID, string) (*ledger.Inclusion, error) {
	l := sampleLeaf()
	return &ledger.Inclusion{Leaf: l, Text: ledger.Text(&l), Checkpoint: sampleCheckpoint()}, f.fail()
}

func (f *fake) Consistency(context.Context, access.WorkspaceID, int64, int64) ([]tlog.Hash, error) {
	return []tlog.Hash{sampleLeafHash()}, f.fail()
}

func (f *fake) DryRun(context.Context, access.Principal, action.DryOrder) (*action.DryRun, error) {
	return &action.DryRun{
		Contract: sampleContract(), Actions: 2, Stopped: "it takes at most 10s",
		Badge:    map[verdict.Result]int{verdict.Pass: 1, verdict.Unknown: 1},
		Verified: []money.Amount{sampleFact().Attrs["amount"].Amount()},
		Codes:    []action.CodeCount{{Lens: verdict.OutcomeLens, Code: verdict.EffectSeen, Actions: 1}},
		Turned:   []action.Turn{{Ref: "act_1", ActionID: "a-1", Lens: verdict.OutcomeLens, Was: verdict.Fail, Is: verdict.Pass}},
	}, f.fail()
}

func (f *fake) Orphans(context.Context, access.Principal, action.OrphanQuery, store.Page) ([]evidence.Fact, store.Cursor, error) {
	return []evidence.Fact{sampleFact().Fact}, "c_next", f.fail()
}

func (f *fake) Audit(context.Context, access.Principal, store.Page) ([]store.AuditEntry, store.Cursor, error) {
	return []store.AuditEntry{{ID: 1, At: testNow, Actor: "ada@example.com", Event: "key.created", Metadata: []byte(`{"name":"k"}`)}}, "", f.fail()
}

func (f *fake) Usage(_ context.Context, _ access.Principal, month string) (*trail.Usage, error) {
	small := plan.Plan{Name: "small", Title: "Small", ActionsPerMonth: 10, Limited: true, Features: []plan.Feature{plan.Drafts}, UpgradeTo: "team"}
	return &trail.Usage{Plan: small, Period: month, Recorded: 11}, f.fail()
}

func sampleWorkspace() store.Workspace {
	return store.Workspace{Workspace: access.Workspace{ID: fakeHome}, Name: "Acme", Plan: "default", CreatedAt: testNow}
}

func sampleSignedIn() *account.SignedIn {
	return &account.SignedIn{
		Session: access.Session{
			ID: "ses_1", Kind: access.Terminal, Workspace: fakeHome, Member: fakeMember, IssuedAt: testNow,
			ExpiresAt: testNow.Add(time.Hour), ConfirmedAt: testNow,
		},
		Workspace: sampleWorkspace(),
		Member:    access.Membership{Workspace: fakeHome, Member: fakeMember, Email: "ada@example.com", Role: access.Owner},
	}
}

func (f *fake) SignIn(context.Context, string, access.Kind, string) (*account.SignedIn, error) {
	return sampleSignedIn(), f.fail()
}

func (f *fake) SignInPassword(context.Context, access.Email, string, access.WorkspaceID, access.Kind, string) (*account.SignedIn, error) {
	return sampleSignedIn(), f.fail()
}

func (f *fake) Confirm(context.Context, account.Credential, string) error     { return f.fail() }
func (f *fake) ConfirmLink(context.Context, account.Credential, string) error { return f.fail() }
func (f *fake) SignOut(context.Context, account.Credential) error             { return f.fail() }

func (f *fake) SetPassword(context.Context, account.Credential, string, string) (*account.SignedIn, error) {
	return sampleSignedIn(), f.fail()
}

func sampleMember() store.Member {
	return store.Member{
		Membership: access.Membership{Workspace: fakeHome, Member: fakeMember, Email: "ada@example.com", Role: access.Admin},
		Name:       "Ada", JoinedAt: testNow,
	}
}

func (f *fake) Members(context.Context, access.Principal) ([]store.Member, error) {
	return []store.Member{sampleMember()}, f.fail()
}

func (f *fake) Invite(context.Context, access.Principal, string, string, access.Role) (*account.Invited, error) {
	return &account.Invited{Member: sampleMember()}, f.fail()
}

func (f *fake) MemberLink(context.Context, access.Principal, access.MemberID) (account.Token, error) {
	return account.Token{}, f.fail()
}

func (f *fake) ChangeRole(context.Context, access.Principal, access.MemberID, access.Role) (*store.Member, error) {
	m := sampleMember()
	return &m, f.fail()
}

func (f *fake) Remove(context.Context, access.Principal, access.MemberID) error { return f.fail() }

func (f *fake) Keys(context.Context, access.Principal) ([]access.Key, error) {
	k, _ := mintedKey(access.AllScopes())
	k.Limits.Contracts = []string{"refund"}
	return []access.Key{k}, f.fail()
}

func (f *fake) MintKey(context.Context, access.Principal, account.KeyOrder) (*account.Minted, error) {
	k, secret := mintedKey(access.ScopesOf(access.ActionsRead))
	return &account.Minted{Key: k, Secret: secret}, f.fail()
}

func (f *fake) RotateKey(ctx context.Context, p access.Principal, _ access.KeyID, _ time.Duration, _ value.Instant) (*account.Minted, error) {
	return f.MintKey(ctx, p, account.KeyOrder{})
}

func (f *fake) RevokeKey(context.Context, access.Principal, access.KeyID) error { return f.fail() }

func (f *fake) Workspace(context.Context, access.Principal) (*store.Workspace, error) {
	w := sampleWorkspace()
	return &w, f.fail()
}

func (f *fake) ChangeSettings(context.Context, access.Principal, account.Settings) (*store.Workspace, error) {
	w := sampleWorkspace()
	return &w, f.fail()
}

func (f *fake) Delete(context.Context, access.Principal, string) error { return f.fail() }
