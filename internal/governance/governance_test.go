package governance

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/weakening"
)

func TestTheSameTextOnceMoreIsTheVersionThatIsThere(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	first, err := o.Save(t.Context(), o.admin(), strict, "the first try")
	if err != nil || !first.New || first.Version.Version != 1 || first.Path != "/contracts/refunds/versions/1" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := o.Save(t.Context(), o.admin(), strict, "once more")
	if err != nil || again.New || again.Version.Version != 1 || again.Version.Note != "the first try" {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if n := o.save(weaker); n != 2 {
		t.Errorf("another text is version %d", n)
	}
	if n := o.save(strict); n != 3 {
		t.Errorf("the text of before the latest is version %d", n)
	}
	if got := o.events(); !slices.Equal(got, []string{"contract.saved refunds@1", "contract.saved refunds@2", "contract.saved refunds@3"}) {
		t.Errorf("the audit has %q", got)
	}
}

func TestWhatIsNoContractIsRefusedWithLineAndColumn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	_, err := o.Save(t.Context(), o.admin(), []byte(strings.Replace(string(strict), "count: 1", "count: none", 1)), "")
	invalid, is := errors.AsType[*InvalidError](err)
	if !is || len(invalid.Problems) == 0 || invalid.Problems[0].Line != 11 || invalid.Problems[0].Column == 0 || access.CodeOf(err) != "invalid_contract" {
		t.Errorf("%v with the code %s", err, access.CodeOf(err))
	}
	_, err = o.Save(t.Context(), o.admin(), strict, strings.Repeat("x", 1025))
	wantType[*RequestError](t, "a long note", err)
}

func TestOfManyWhoSaveAtOnceEachHasAVersion(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	var all sync.WaitGroup
	for _, within := range []string{"1h", "2h", "3h", "4h", "5h", "6h"} {
		all.Go(func() { o.save(text(within, "", "")) })
	}
	all.Wait()
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil || len(versions) != 6 || versions[5].Version != 6 {
		t.Errorf("%d versions, %v", len(versions), err)
	}
}

func TestAProgramLeavesADraftAndCanDoNothingElse(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	ci := o.key(access.ScopesOf(access.ContractsDraft))
	proposed, err := o.Propose(t.Context(), ci, strict, "from a build")
	if err != nil || proposed.Version.Saver != "" || proposed.Version.SavedBy != ci.Actor() {
		t.Fatalf("%+v, %v", proposed, err)
	}
	_, err = o.Save(t.Context(), ci, weaker, "")
	wantType[*access.MemberOnlyError](t, "saving", err)
	_, err = o.Approve(t.Context(), ci, "refunds", 1)
	wantType[*access.MemberOnlyError](t, "approving", err)
	_, err = o.Activate(t.Context(), ci, "refunds", 1, verdict.Live)
	wantType[*access.MemberOnlyError](t, "activating", err)
	_, err = o.Retire(t.Context(), ci, "refunds")
	wantType[*access.MemberOnlyError](t, "retiring", err)
	_, err = o.Propose(t.Context(), o.key(access.ScopesOf(access.ContractsDraft), "others"), weaker, "")
	wantType[*access.LimitError](t, "a key for other contracts", err)
	_, err = o.Propose(t.Context(), o.key(access.ScopesOf(access.ActionsRead)), weaker, "")
	wantType[*access.MemberOnlyError](t, "a key that may not draft", err)
}

func TestActivationEndsTheVersionBeforeAndIsToldInTheAuditAndTheLedger(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.activate(o.save(strict), verdict.Live)
	o.advance(time.Hour)
	done := o.activate(o.save(weaker), verdict.Live)
	if !done.Weaker || !done.New || len(done.Changes) != 1 || done.Changes[0].What != weakening.WindowWider {
		t.Errorf("the activation: %+v", done)
	}
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil || versions[0].From != noon || versions[0].Until != o.clock() || versions[1].From != o.clock() || versions[1].Until != 0 {
		t.Errorf("the versions: %+v, %v", versions, err)
	}
	want := []string{"contract.saved refunds@1", "contract.activated refunds@1", "contract.saved refunds@2", "contract.activated refunds@2"}
	if got := o.events(); !slices.Equal(got, want) {
		t.Errorf("the audit has %q", got)
	}
	leaves := o.leaves()
	if len(leaves) != 2 || leaves[1].Kind != ledger.ActivationKind || leaves[1].Digest != ledger.Activation(&versions[1]).Digest {
		t.Errorf("the ledger has %+v", leaves)
	}
	again := o.activate(2, verdict.Live)
	if again.New || len(o.leaves()) != 2 || len(o.events()) != 4 {
		t.Error("activating it once more changed something")
	}
}

func TestAVersionThatHasGovernedComesBackAsANewOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.activate(o.save(strict), verdict.Shadow)
	o.advance(time.Hour)
	live := o.activate(1, verdict.Live)
	if live.Version.Version != 2 || live.Version.Digest == "" || live.Version.Mode != verdict.Live || o.governing() != 2 {
		t.Errorf("in the other mode: %+v", live.Version)
	}
	o.advance(time.Hour)
	if _, err := o.Retire(t.Context(), o.admin(), "refunds"); err != nil {
		t.Fatal(err)
	}
	if n := o.governing(); n != 0 {
		t.Errorf("after its retirement version %d governs", n)
	}
	if _, err := o.Retire(t.Context(), o.admin(), "refunds"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("retiring nothing: %v", err)
	}
	if n := o.save(strict); n != 3 {
		t.Errorf("the text of a version that is over is version %d", n)
	}
	o.advance(time.Hour)
	if done := o.activate(2, verdict.Live); done.Version.Version != 4 || o.governing() != 4 {
		t.Errorf("after its retirement it comes back as %+v", done.Version)
	}
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil || versions[1].From != noon.Add(time.Hour) || versions[1].Until != noon.Add(2*time.Hour) {
		t.Errorf("when version 2 governed has changed: %+v, %v", versions[1], err)
	}
}

func TestAWeakerVersionNeedsASecondMemberWhereTheWorkspaceWantsOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme, SecondMember: true})
	bo := o.member("bo", access.Analyst)
	o.activate(o.save(strict), verdict.Live)
	weak := o.save(weaker)
	_, err := o.Activate(t.Context(), o.admin(), "refunds", weak, verdict.Live)
	wantType[*access.SecondMemberError](t, "alone", err)
	if _, err := o.Approve(t.Context(), o.admin(), "refunds", weak); err != nil {
		t.Fatal(err)
	}
	_, err = o.Activate(t.Context(), o.admin(), "refunds", weak, verdict.Live)
	wantType[*access.SecondMemberError](t, "with the own approval", err)
	for range 2 {
		if v, err := o.Approve(t.Context(), bo, "refunds", weak); err != nil || len(v.Approvers) != 2 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	o.keep(func(tx store.Tx) { tx.RemoveMember("per_bo") })
	_, err = o.Activate(t.Context(), o.admin(), "refunds", weak, verdict.Live)
	wantType[*access.SecondMemberError](t, "with the approval of somebody who left", err)
	bo = o.member("bo", access.Analyst)
	if done := o.activate(weak, verdict.Live); !done.Weaker {
		t.Error("it is not told as weaker")
	}
	_, err = o.Approve(t.Context(), bo, "refunds", weak)
	wantType[*StateError](t, "approving what governs", err)
	if _, err := o.Approve(t.Context(), bo, "refunds", 9); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("approving nothing: %v", err)
	}
}

// Neither a pause, nor a trial in shadow, nor a detour over a strict version makes
// way for a weaker one that one member alone wants.
func TestNoDetourMakesWayForAWeakerVersion(t *testing.T) {
	t.Parallel()
	for name, detour := range map[string]func(o *office, weak int){
		"a pause": func(o *office, _ int) { retired(o) },
		"a trial in shadow": func(o *office, _ int) {
			bo := o.member("bo", access.Admin)
			saved, err := o.Save(o.t.Context(), bo, text("70h", "", ""), "")
			if err != nil {
				o.t.Fatal(err)
			}
			// With a second member behind it: the trial itself is weaker too.
			o.activate(saved.Version.Version, verdict.Shadow)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, access.Workspace{ID: acme, SecondMember: true})
			o.activate(o.save(strict), verdict.Live)
			weak := o.save(text("60h", "", ""))
			o.advance(time.Minute)
			detour(o, weak)
			_, err := o.Activate(t.Context(), o.admin(), "refunds", weak, verdict.Live)
			wantType[*access.SecondMemberError](t, "after it", err)
		})
	}
}

// A contract under another name is a way round the one that is there: an action names
// its contract, and the agent's mapping writes the name.
func TestAContractBesideAnotherNeedsASecondMemberToo(t *testing.T) {
	t.Parallel()
	named := func(id, applies string, yaml []byte) []byte {
		return []byte(strings.Replace(string(yaml), "contract: refunds\n", "contract: "+id+"\n"+applies, 1))
	}
	const covers = "applies_to: {action_type: refund_order}\n"
	for name, test := range map[string]struct {
		detour func(o *office)
		beside []byte
		want   string // empty: it takes nobody else
	}{
		"for the same action":      {beside: named("easy", covers, weaker), want: "new contract beside refunds covers refund_order"},
		"for any action":           {beside: named("easy", "", weaker), want: "new contract beside refunds covers refund_order"},
		"for another action":       {beside: named("easy", "applies_to: {action_type: ship_order}\n", weaker)},
		"after the first is ended": {detour: retired, beside: named("easy", covers, weaker), want: "new contract beside refunds covers refund_order"},
		"made wider later": {
			detour: func(o *office) {
				saved := o.save(named("easy", "applies_to: {action_type: ship_order}\n", strict))
				if _, err := o.Activate(o.t.Context(), o.admin(), "easy", saved, verdict.Live); err != nil {
					o.t.Fatal(err)
				}
				o.advance(time.Minute)
			},
			beside: named("easy", "", strict), want: "it is wider than before, and beside refunds covers refund_order",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, access.Workspace{ID: acme, SecondMember: true})
			bo := o.member("bo", access.Analyst)
			if first := o.activate(o.save(named("refunds", covers, strict)), verdict.Live); first.Weaker || len(first.Changes) > 0 {
				t.Fatalf("the first contract is told as weaker: %+v", first.Changes)
			}
			o.advance(time.Minute)
			if test.detour != nil {
				test.detour(o)
			}
			checked, err := o.Validate(t.Context(), o.admin(), test.beside)
			if err != nil || checked.Weaker != (test.want != "") {
				t.Errorf("it is validated as %+v, %v", checked, err)
			}
			easy := o.save(test.beside)
			done, err := o.Activate(t.Context(), o.admin(), "easy", easy, verdict.Live)
			if test.want == "" {
				if err != nil || done.Weaker {
					t.Errorf("%+v, %v", done, err)
				}
				return
			}
			wantType[*access.SecondMemberError](t, "alone", err)
			if _, err := o.Approve(t.Context(), bo, "easy", easy); err != nil {
				t.Fatal(err)
			}
			if done, err = o.Activate(t.Context(), o.admin(), "easy", easy, verdict.Live); err != nil {
				t.Fatal(err)
			}
			last := done.Changes[len(done.Changes)-1]
			if last.What != weakening.ContractBeside || !strings.HasPrefix(last.Sentence, test.want+":") {
				t.Errorf("it is told as %+v", last)
			}
		})
	}
}

func retired(o *office) {
	o.t.Helper()
	if _, err := o.Retire(o.t.Context(), o.admin(), "refunds"); err != nil {
		o.t.Fatal(err)
	}
}

// Nor does a key learn the names of contracts that it may not see.
func TestWhatAContractIsBesideHasNoNameForWhoMayNotSeeIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.activate(o.save(strict), verdict.Live)
	other := []byte(strings.Replace(string(weaker), "contract: refunds", "contract: easy", 1))
	checked, err := o.Validate(t.Context(), o.key(access.ScopesOf(access.ContractsValidate, access.ContractsRead), "easy"), other)
	if err != nil || len(checked.Changes) != 1 || !strings.HasPrefix(checked.Changes[0].Sentence, "new contract beside another contract covers any action") {
		t.Errorf("%+v, %v", checked, err)
	}
}

func TestActivationIsForAnAdminAndWhatIsThere(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	n := o.save(strict)
	_, err := o.Activate(t.Context(), o.admin(), "refunds", n, "tentative")
	wantType[*RequestError](t, "another mode", err)
	_, err = o.Activate(t.Context(), o.member("bo", access.Analyst), "refunds", n, verdict.Live)
	wantType[*access.RoleError](t, "an analyst", err)
	_, err = o.Retire(t.Context(), o.member("bo", access.Analyst), "refunds")
	wantType[*access.RoleError](t, "an analyst who retires", err)
	if _, err := o.Activate(t.Context(), o.admin(), "refunds", 7, verdict.Live); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a version that is not there: %v", err)
	}
	ada := o.admin()
	o.advance(access.ConfirmedFor + time.Second)
	_, err = o.Activate(t.Context(), ada, "refunds", n, verdict.Live)
	wantType[*access.ConfirmError](t, "who has not confirmed for a while", err)
	if n := o.governing(); n != 0 {
		t.Errorf("version %d governs after all", n)
	}
}

// Without a step nothing could ever be shown to have happened.
func TestAContractWithoutAStepIsNone(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	noStep := strings.Split(string(strict), "steps:")[0] + "never:\n  - {id: not_reversed, expect: refund.failed, from: stripe}\n"
	_, err := o.Save(t.Context(), o.admin(), []byte(noStep), "")
	wantType[*InvalidError](t, "without steps", err)
}

func TestOfTwoWhoActivateAtOnceOneVersionGoverns(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	first, second := o.save(strict), o.save(weaker)
	var all sync.WaitGroup
	for _, n := range []int{first, second, first, second} {
		all.Go(func() { o.activate(n, verdict.Live) })
	}
	all.Wait()
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil {
		t.Fatal(err)
	}
	governing := 0
	for _, v := range versions {
		if v.From != 0 && v.Until == 0 {
			governing++
		}
	}
	if governing != 1 {
		t.Errorf("%d versions govern: %+v", governing, versions)
	}
}

func TestValidationSaysWhatATextComesToHere(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	reader := o.key(access.ScopesOf(access.ContractsValidate))
	v, err := o.Validate(t.Context(), reader, []byte("contract: refunds\nstep: []\n"))
	if err != nil || len(v.Problems) == 0 || v.Contract != nil {
		t.Errorf("no contract: %+v, %v", v, err)
	}
	v, err = o.Validate(t.Context(), reader, strict)
	if err != nil || len(v.Problems) != 0 || v.Against != nil || v.Weaker || len(v.Text.Sections) == 0 {
		t.Errorf("a first version: %+v, %v", v, err)
	}
	if len(v.Sources) != 1 || v.Sources[0].Code != "source_unknown" {
		t.Errorf("its sources: %+v", v.Sources)
	}
	o.activate(o.save(strict), verdict.Live)
	o.keep(func(tx store.Tx) {
		tx.PutSource(store.SourceState{Source: evidence.Source{Name: "stripe", Trust: evidence.Asserted, Provides: []string{"refund.succeeded"}}, CreatedAt: noon, CreatedBy: "ada@example.com"})
	})
	v, err = o.Validate(t.Context(), reader, weaker)
	if err != nil || v.Against == nil || v.Against.Version != 1 || !v.Weaker || len(v.Changes) != 1 {
		t.Errorf("a weaker version: %+v, %v", v, err)
	}
	var codes []string
	for _, p := range v.Sources {
		codes = append(codes, p.Code)
	}
	if !slices.Equal(codes, []string{"source_too_weak", "no_watermark"}) {
		t.Errorf("its sources: %+v", v.Sources)
	}
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil || len(versions) != 1 {
		t.Errorf("validating saved something: %d versions, %v", len(versions), err)
	}
	_, err = o.Validate(t.Context(), o.key(access.ScopesOf(access.ContractsRead)), strict)
	wantType[*access.ScopeError](t, "without the scope", err)
}

func TestWhatAKeyMayNotSeeIsNotThere(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.activate(o.save(strict), verdict.Live)
	all := access.ReadScopes()
	stranger, reader := o.key(all, "others"), o.key(all, "refunds")
	for what, err := range map[string]error{
		"versions": second(o.Versions(t.Context(), stranger, "refunds")),
		"get":      second(o.Get(t.Context(), stranger, "refunds", 1)),
		"diff":     second(o.Diff(t.Context(), stranger, "refunds", 1, 1)),
		"unknown":  second(o.Versions(t.Context(), reader, "others")),
		"nothing":  second(o.Get(t.Context(), o.admin(), "nothing", 0)),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list, err := o.List(t.Context(), stranger); err != nil || len(list) != 0 {
		t.Errorf("a stranger's list: %+v, %v", list, err)
	}
	list, err := o.List(t.Context(), reader)
	if err != nil || len(list) != 1 || list[0].Active == nil || list[0].Active.Version != 1 || list[0].Versions != 1 {
		t.Errorf("the reader's list: %+v, %v", list, err)
	}
	got, err := o.Get(t.Context(), reader, "refunds", 0)
	if err != nil || got.Version.Text != string(strict) || !got.Active || got.Contract.ID != "refunds" {
		t.Errorf("the active version: %+v, %v", got, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestADiffSaysWhatAVersionLetsThrough(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.save(strict)
	o.save(weaker)
	diff, err := o.Diff(t.Context(), o.admin(), "refunds", 1, 2)
	if err != nil || !diff.Weaker || len(diff.Changes) != 1 || diff.Changes[0].Direction != weakening.Weaker {
		t.Errorf("%+v, %v", diff, err)
	}
	diff, err = o.Diff(t.Context(), o.admin(), "refunds", 2, 1)
	if err != nil || diff.Weaker || diff.Changes[0].Direction != weakening.Stronger {
		t.Errorf("the other way round: %+v, %v", diff, err)
	}
}

func TestACompiledContractIsShared(t *testing.T) {
	t.Parallel()
	c := newCompiler()
	first, err := c.compile(string(strict))
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.compile(string(strict))
	if err != nil || first != again {
		t.Error("the same text was compiled twice")
	}
	for range keptCompiled + 10 {
		other, err := c.compile(strings.Replace(string(strict), "48h", time.Duration(len(c.kept)+1).String(), 1))
		if err == nil && other == nil {
			t.Fatal("no contract and no error")
		}
	}
	if len(c.kept) > keptCompiled {
		t.Errorf("it holds %d", len(c.kept))
	}
}
