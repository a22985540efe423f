package intake_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// place is a workspace on a store of its own, at noon.
type place struct {
	store  store.Store
	now    atomic.Int64
	intake *intake.Service
}

const home = access.WorkspaceID("ws_1")

func open(t testing.TB) *place {
	t.Helper()
	p := &place{}
	p.now.Store(int64(noon))
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(p.clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p.store, p.intake = s, intake.NewService(s)
	if _, err := p.intake.CreateSource(t.Context(), p.member(t, access.Admin), intake.SourceOrder{
		Name: "stripe", Trust: evidence.Attested, Provides: []string{"refund.succeeded", "refund.failed", "refund.failed"},
	}); err != nil {
		t.Fatal(err)
	}
	p.claim(t) // what making it wakes
	return p
}

func (p *place) clock() value.Instant { return value.Instant(p.now.Load()) }

func (p *place) member(t testing.TB, role access.Role) access.Principal {
	t.Helper()
	now := p.clock()
	m := access.Membership{Workspace: home, Member: "per_1", Email: "ada@example.com", Role: role}
	principal, err := access.FromSession(access.Session{
		ID: "s", Kind: access.Terminal, Workspace: home, Member: "per_1", IssuedAt: now, ExpiresAt: now + 1, ConfirmedAt: now,
	}, m, access.Workspace{ID: home}, access.REST, now)
	if err != nil {
		t.Fatal(err)
	}
	return principal
}

func (p *place) key(t testing.TB, changes ...func(*access.KeyOrder)) access.Principal {
	t.Helper()
	order := access.KeyOrder{ID: "k", Name: "key", Scopes: access.ScopesOf(access.FactsWrite, access.ActionsRead, access.ConnectorsRead), Sources: []string{"stripe"}}
	for _, change := range changes {
		change(&order)
	}
	key, secret, err := access.MintKey(order, access.Workspace{ID: home}, rand.Reader, p.clock())
	if err != nil {
		t.Fatal(err)
	}
	principal, err := access.FromKey(secret, key, access.Workspace{ID: home}, access.REST, p.clock())
	if err != nil {
		t.Fatal(err)
	}
	return principal
}

// claim takes all wakes that there are.
func (p *place) claim(t testing.TB) []store.Wake {
	t.Helper()
	var wakes []store.Wake
	err := p.store.Do(t.Context(), home, func(tx store.Tx) (err error) {
		wakes, err = tx.Claim(10_000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range wakes {
		wakes[i].Due = 0
	}
	return wakes
}

func (p *place) push(t testing.TB, facts ...string) []bool {
	t.Helper()
	isNew, err := p.intake.Push(t.Context(), p.key(t), parsed(t, facts...))
	if err != nil {
		t.Fatal(err)
	}
	return isNew
}

func TestANewFactIsKeptWithAWakeAndAKnownOneIsNot(t *testing.T) {
	t.Parallel()
	p := open(t)
	if got := p.push(t, fact(), fact(), fact(`"external_id": "re_2"`)); !slices.Equal(got, []bool{true, false, true}) {
		t.Errorf("new are %v, want the first and the third", got)
	}
	want := []store.Wake{
		{Kind: store.WakeFact, Fact: evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "re_1"}},
		{Kind: store.WakeFact, Fact: evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "re_2"}},
	}
	if got := p.claim(t); !slices.Equal(got, want) {
		t.Errorf("woken are %v, want %v", got, want)
	}
	p.now.Add(int64(value.Second))
	if got := p.push(t, fact(`"attrs": {"amount": {"amount": "80.0", "currency": "USD"}}`)); got[0] {
		t.Error("the same in another spelling is new")
	}
	if wakes := p.claim(t); len(wakes) > 0 {
		t.Errorf("what was known wakes %v", wakes)
	}
	if got := p.push(t, fact(`"revision": 2`)); !got[0] {
		t.Error("a revision is known")
	}
	id := evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "re_1"}
	revisions, err := p.intake.Revisions(t.Context(), p.key(t), id)
	if err != nil || len(revisions) != 2 || revisions[0].IngestedAt != noon || revisions[1].IngestedAt != noon+value.Second || !strings.HasPrefix(string(revisions[0].By), "apikey:") {
		t.Errorf("revisions are %+v, %v", revisions, err)
	}
	if string(revisions[1].Body) != fact(`"revision": 2`) {
		t.Errorf("kept is the body %s", revisions[1].Body)
	}
	if _, err := p.intake.Revisions(t.Context(), p.key(t), evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "nothing"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestOneFactThatCannotBeTakenKeepsAllOthersOut(t *testing.T) {
	t.Parallel()
	p := open(t)
	both := p.key(t, func(o *access.KeyOrder) { o.Sources = []string{"stripe", "nobody"} })
	for name, test := range map[string]struct{ fact, field, message string }{
		"of no source":        {fact(`"source": "nobody"`), "source", `the workspace has no source "nobody"; a member has to make it first`},
		"of another type":     {fact(`"type": "order.shipped"`), "type", "the source stripe does not provide order.shipped"},
		"of tomorrow's night": {fact(`"occurred_at": "2026-11-03T12:00:01Z"`), "occurred_at", "lies more than 24 hours in the future"},
	} {
		_, err := p.intake.Push(t.Context(), both, parsed(t, fact(), test.fact))
		invalid, is := errors.AsType[*intake.InvalidError](err)
		if !is || fmt.Sprint(invalid.Problems) != fmt.Sprintf("[{1 %s %s}]", test.field, test.message) {
			t.Errorf("%s: %v %+v", name, err, invalid)
		}
	}
	if _, err := p.intake.Push(t.Context(), p.key(t), parsed(t, fact(), fact(`"source": "nobody"`))); !errors.As(err, new(*access.SourceError)) {
		t.Errorf("of a source that the key is not bound to: %v", err)
	}
	reader := p.key(t, func(o *access.KeyOrder) { o.Scopes, o.Sources = access.ScopesOf(access.ActionsRead), nil })
	if _, err := p.intake.Push(t.Context(), reader, parsed(t, fact())); !errors.As(err, new(*access.ScopeError)) {
		t.Errorf("without the scope: %v", err)
	}
	facts, _, err := p.intake.List(t.Context(), p.key(t), store.FactFilter{}, store.Page{Limit: 10})
	if err != nil || len(facts) > 0 || len(p.claim(t)) > 0 {
		t.Errorf("kept are %v (%v)", facts, err)
	}
	if got := p.push(t, fact(`"occurred_at": "2026-11-03T12:00:00Z"`)); !got[0] {
		t.Error("what is a day ahead is not taken")
	}
}

func TestAWatermarkWakesWhatWaitsAndOneThatGoesBackAllThatUsesIt(t *testing.T) {
	t.Parallel()
	p := open(t)
	put := func(marks map[string]value.Instant) *store.SourceState {
		t.Helper()
		state, err := p.intake.PutWatermarks(t.Context(), p.key(t), "stripe", marks)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	state := put(map[string]value.Instant{"refund.succeeded": noon, "refund.failed": noon - 1})
	if state.Watermarks["refund.succeeded"] != noon || state.Watermarks["refund.failed"] != noon-1 {
		t.Errorf("the source is at %v", state.Watermarks)
	}
	want := []store.Wake{
		{Kind: store.WakeSource, Source: "stripe", FactType: "refund.failed", Watermark: noon - 1},
		{Kind: store.WakeSource, Source: "stripe", FactType: "refund.succeeded", Watermark: noon},
	}
	if got := p.claim(t); !slices.Equal(got, want) {
		t.Errorf("woken are %v, want %v", got, want)
	}
	put(map[string]value.Instant{"refund.succeeded": noon})
	if got := p.claim(t); len(got) > 0 {
		t.Errorf("the same again wakes %v", got)
	}
	back := put(map[string]value.Instant{"refund.succeeded": noon - value.Second})
	if back.Watermarks["refund.succeeded"] != noon-value.Second {
		t.Errorf("back it is at %v", back.Watermarks)
	}
	if got := p.claim(t); !slices.Equal(got, []store.Wake{{Kind: store.WakeSource, Source: "stripe"}}) {
		t.Errorf("going back wakes %v, want all that uses the source", got)
	}
	kept, err := p.intake.Source(t.Context(), p.key(t), "stripe")
	if err != nil || kept.Watermarks["refund.succeeded"] != noon-value.Second {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	said := p.audited(t)
	if !slices.Contains(said, `watermark.moved_back stripe {"from":"2026-11-02T12:00:00Z","to":"2026-11-02T11:59:59Z","type":"refund.succeeded"}`) {
		t.Errorf("the audit has %q", said)
	}
}

func (p *place) audited(t testing.TB) []string {
	t.Helper()
	var said []string
	err := p.store.View(context.Background(), home, func(tx store.Tx) error {
		rows, _, err := tx.ListAudit(store.Page{Limit: 100})
		for _, r := range rows {
			said = append(said, fmt.Sprintf("%s %s %s", r.Event, r.Object, r.Metadata))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func TestAWatermarkThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	p := open(t)
	for name, test := range map[string]struct {
		marks   map[string]value.Instant
		message string
	}{
		"in the future":     {map[string]value.Instant{"refund.succeeded": noon.Add(time.Minute) + 1}, "watermarks.refund.succeeded: lies more than a minute in the future"},
		"of another type":   {map[string]value.Instant{"order.shipped": noon}, "watermarks.order.shipped: the source stripe does not provide order.shipped"},
		"of no type":        {map[string]value.Instant{"refund": noon}, "watermarks.refund: is no fact type; write a family and a name with a dot between them"},
		"without a time":    {map[string]value.Instant{"refund.failed": 0}, "watermarks.refund.failed: is no time"},
		"of nothing at all": {nil, "watermarks: has 0 fact types; 1 to 200 are taken at once"},
	} {
		_, err := p.intake.PutWatermarks(t.Context(), p.key(t), "stripe", test.marks)
		invalid, is := errors.AsType[*intake.InvalidError](err)
		if !is || invalid.Error() != test.message {
			t.Errorf("%s: %v, want %s", name, err, test.message)
		}
	}
	if _, err := p.intake.PutWatermarks(t.Context(), p.key(t), "stripe", map[string]value.Instant{"refund.succeeded": noon.Add(time.Minute)}); err != nil {
		t.Errorf("a minute ahead, as far as clocks may differ: %v", err)
	}
	if _, err := p.intake.PutWatermarks(t.Context(), p.key(t), "bank", map[string]value.Instant{"a.b": noon}); !errors.As(err, new(*access.SourceError)) {
		t.Errorf("of a source that the key is not bound to: %v", err)
	}
	bank := p.key(t, func(o *access.KeyOrder) { o.Sources = []string{"bank"} })
	if _, err := p.intake.PutWatermarks(t.Context(), bank, "bank", map[string]value.Instant{"a.b": noon}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a source that is not there: %v", err)
	}
	if _, err := p.intake.PutWatermarks(t.Context(), p.key(t), "stripe", map[string]value.Instant{"refund.failed": noon.Add(time.Minute)}); err != nil {
		t.Errorf("a minute ahead, as clocks differ: %v", err)
	}
}

func TestOnlyMembersSayHowFarASourceIsTrusted(t *testing.T) {
	t.Parallel()
	p := open(t)
	trust := evidence.Independent
	if _, err := p.intake.ChangeSource(t.Context(), p.key(t), "stripe", intake.SourceChange{Trust: &trust}); !errors.As(err, new(*access.MemberOnlyError)) {
		t.Errorf("a key: %v", err)
	}
	if _, err := p.intake.ChangeSource(t.Context(), p.member(t, access.Analyst), "stripe", intake.SourceChange{Trust: &trust}); !errors.As(err, new(*access.RoleError)) {
		t.Errorf("an analyst: %v", err)
	}
	title, provides, unit := "Stripe, live", []string{"refund.succeeded"}, time.Millisecond
	old := p.member(t, access.Admin)
	p.now.Add(int64(access.ConfirmedFor/time.Microsecond) + 1)
	if _, err := p.intake.ChangeSource(t.Context(), old, "stripe", intake.SourceChange{Trust: &trust}); !errors.As(err, new(*access.ConfirmError)) {
		t.Errorf("an admin who was not asked again for long: %v", err)
	}
	as := evidence.Attested // as it stands
	if _, err := p.intake.ChangeSource(t.Context(), old, "stripe", intake.SourceChange{Trust: &as, Title: &title}); err != nil {
		t.Errorf("they give it another title: %v", err)
	}
	p.claim(t)
	changed, err := p.intake.ChangeSource(t.Context(), p.member(t, access.Admin), "stripe", intake.SourceChange{Trust: &trust, Title: &title, Provides: &provides, Resolution: &unit})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := p.intake.Source(t.Context(), p.key(t), "stripe")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.SourceState{changed, kept} {
		if s.Trust != evidence.Independent || s.Title != title || !slices.Equal(s.Provides, provides) || s.Unit() != unit || s.CreatedAt != noon || s.CreatedBy != "ada@example.com" {
			t.Errorf("it is %+v", s)
		}
	}
	if got := p.claim(t); !slices.Equal(got, []store.Wake{{Kind: store.WakeSource, Source: "stripe"}}) {
		t.Errorf("a change wakes %v, want all that uses the source", got)
	}
	if _, err := p.intake.ChangeSource(t.Context(), p.member(t, access.Admin), "nobody", intake.SourceChange{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
}

func TestASourceThatCannotBeIsNotMade(t *testing.T) {
	t.Parallel()
	p := open(t)
	for name, test := range map[string]struct {
		order intake.SourceOrder
		field string
	}{
		"no name":          {intake.SourceOrder{}, "name"},
		"an odd name":      {intake.SourceOrder{Name: "a b"}, "name"},
		"no fact type":     {intake.SourceOrder{Name: "a", Provides: []string{"refund"}}, "provides"},
		"too coarse":       {intake.SourceOrder{Name: "a", Resolution: 25 * time.Hour}, "resolution"},
		"an unknown trust": {intake.SourceOrder{Name: "a", Trust: 9}, "trust"},
	} {
		_, err := p.intake.CreateSource(t.Context(), p.member(t, access.Admin), test.order)
		invalid, is := errors.AsType[*intake.InvalidError](err)
		if !is || invalid.Problems[0].Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := p.intake.CreateSource(t.Context(), p.member(t, access.Admin), intake.SourceOrder{Name: "stripe"})
	if !errors.As(err, new(*intake.TakenError)) || access.CodeOf(err) != "conflict" {
		t.Errorf("a name that is taken: %v", err)
	}
	made, err := p.intake.CreateSource(t.Context(), p.member(t, access.Admin), intake.SourceOrder{Name: "shop"})
	if err != nil || made.Trust != evidence.Asserted || made.Unit() != time.Second {
		t.Errorf("with a name alone it is %+v, %v", made, err)
	}
	all, err := p.intake.Sources(t.Context(), p.key(t))
	if err != nil || len(all) != 2 || all[0].Name != "shop" || all[1].Name != "stripe" {
		t.Errorf("there are %v, %v", all, err)
	}
	if _, err := p.intake.Source(t.Context(), p.key(t), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody is %v", err)
	}
}

func TestAKeyThatIsLimitedToSomeActionsReadsNoFacts(t *testing.T) {
	t.Parallel()
	p := open(t)
	limited := p.key(t, func(o *access.KeyOrder) { o.Limits.Agents = []string{"bot"} })
	_, _, list := p.intake.List(t.Context(), limited, store.FactFilter{}, store.Page{Limit: 1})
	_, one := p.intake.Revisions(t.Context(), limited, evidence.Identity{})
	for _, err := range []error{list, one} {
		if !errors.As(err, new(*intake.LimitedError)) || access.CodeOf(err) != access.Forbidden {
			t.Errorf("got %v", err)
		}
	}
}
