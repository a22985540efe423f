package conformance

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var verdictLaws = []law{
	{"the latest verdict takes the place of the one before", latestVerdict},
	{"settled verdicts stay, each with its case", settledStay},
	{"a verdict comes back with everything that is in it", wholeVerdict},
	{"one revision of a settled verdict is kept once, whoever settles at the same time", settledOnce},
	{"an action without a verdict has none", noVerdict},
	{"an action waits for what its latest verdict waits for", waitsReplaced},
	{"those who wait come in order, a part at a time", waitingInParts},
}

func latestVerdict(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a, results(verdict.Unknown, verdict.Pass))
	for _, r := range []verdict.Result{verdict.Pass, verdict.Fail} {
		want, c := judged(t, a, results(r, verdict.Pass))
		p.keep(t, func(tx store.Tx) { tx.KeepVerdict(a.Ref, want, c, nil) })
		if got := current(t, p, a.Ref); word(got) != word(want) {
			t.Errorf("the latest is\n%s\nwant\n%s", word(got), word(want))
		}
	}
	if kept := look(t, p, func(tx store.Tx) ([]store.Settled, error) { return tx.Settled(a.Ref) }); len(kept) != 0 {
		t.Errorf("provisional verdicts were kept for good: %d", len(kept))
	}
}

func current(t testing.TB, p place, r store.Ref) *verdict.Verdict {
	t.Helper()
	return look(t, p, func(tx store.Tx) (map[store.Ref]*verdict.Verdict, error) { return tx.Current([]store.Ref{r}) })[r]
}

func settledStay(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	var want []store.Settled
	for n := 1; n <= 11; n++ {
		v, c := judged(t, a, settled(n), results([]verdict.Result{verdict.Pass, verdict.Fail}[n%2], verdict.Pass))
		c.At = at(time.Duration(n) * time.Hour)
		want = append(want, store.Settled{Ref: a.Ref, Verdict: *v, Case: c.AppendJSON(nil)})
		p.keep(t, func(tx store.Tx) { tx.KeepVerdict(a.Ref, v, c, nil) })
	}
	got := look(t, p, func(tx store.Tx) ([]store.Settled, error) { return tx.Settled(a.Ref) })
	if len(got) != len(want) {
		t.Fatalf("there are %d, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Ref != a.Ref || word(&got[i].Verdict) != word(&want[i].Verdict) || !bytes.Equal(got[i].Case, want[i].Case) {
			t.Errorf("the %d. is %s with %s", i+1, word(&got[i].Verdict), got[i].Case)
		}
	}
	if last := current(t, p, a.Ref); word(last) != word(&want[10].Verdict) {
		t.Errorf("the latest is %s", word(last))
	}
}

func wholeVerdict(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	sum := money.Amount{Value: decimal("80.00").Decimal(), Currency: "USD"}
	wait := verdict.Wait{Source: "stripe", Type: "refund.succeeded", Until: at(time.Microsecond), Watermark: at(0)}
	v, c := judged(t, a, settled(1), func(v *verdict.Verdict) {
		v.ContractID, v.ContractVersion, v.ContractDigest, v.Mode, v.Decided = "refunds", 3, fmt.Sprintf("sha256:%064d", 1), verdict.Shadow, true
		v.Checks = append(v.Checks, verdict.Check{
			ID: "money_moved", Kind: verdict.StepCheck, Lens: verdict.OutcomeLens, Result: verdict.Fail, Final: true, From: at(0), Until: at(time.Microsecond),
			Reasons: []verdict.Reason{{Code: verdict.EffectBeforeDeclaration, Source: "stripe", Fact: "re_1", About: "amount"}},
			Seen:    []verdict.Seen{{Source: "stripe", Type: "refund.succeeded", ExternalID: "re_1", Revision: 7, OccurredAt: at(time.Microsecond), Role: verdict.Elsewhere, Link: "refs.key"}},
			Waits:   []verdict.Wait{wait},
		})
		v.Waits, v.Notes = []verdict.Wait{wait}, []verdict.Reason{{Code: verdict.LateEvidence, About: "\u0000 <\u2028>"}}
		v.VerifiedAmount = &sum
		v.Compensation = &verdict.Compensation{
			Of: "a", Refused: []string{"b"}, Net: &sum, NetZero: verdict.Fail,
			By: []verdict.Compensator{{ActionID: "c", ContractID: "reversals", DeclaredAt: at(time.Microsecond), Status: verdict.Settled, Outcome: verdict.Pass, Verified: &sum}},
		}
	})
	c.Sources = []evidence.Source{{Name: "stripe", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"refund.succeeded": at(5 * time.Microsecond)}}}
	p.keep(t, func(tx store.Tx) { tx.KeepVerdict(a.Ref, v, c, v.Waits) })
	kept := look(t, p, func(tx store.Tx) ([]store.Settled, error) { return tx.Settled(a.Ref) })
	if got := current(t, p, a.Ref); word(got) != word(v) {
		t.Errorf("the latest is\n%s\nwant\n%s", word(got), word(v))
	}
	if len(kept) != 1 || word(&kept[0].Verdict) != word(v) {
		t.Errorf("kept is %v", kept)
	}
}

func settledOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	const units = 10
	together(t, units, func(int) error {
		return p.try(t, func(tx store.Tx) error {
			kept, err := tx.Settled(a.Ref)
			if err != nil {
				return err
			}
			v, c := judged(t, a, settled(len(kept)+1))
			tx.KeepVerdict(a.Ref, v, c, nil)
			return nil
		})
	})
	kept := look(t, p, func(tx store.Tx) ([]store.Settled, error) { return tx.Settled(a.Ref) })
	for i := range kept {
		if kept[i].Verdict.Revision != i+1 {
			t.Errorf("the %d. has the revision %d", i+1, kept[i].Verdict.Revision)
		}
	}
	if len(kept) != units {
		t.Errorf("there are %d, want %d", len(kept), units)
	}
}

func noVerdict(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.AddAction(action(1), nil, nil) })
	found := look(t, p, func(tx store.Tx) (map[store.Ref]*verdict.Verdict, error) {
		return tx.Current([]store.Ref{ref(1), ref(2)})
	})
	if len(found) != 0 {
		t.Errorf("there are %v", found)
	}
}

// waiting are those who wait for Stripe's facts of a type up to some time after noon.
func waiting(t testing.TB, p place, source, factType string, to time.Duration) []store.Ref {
	t.Helper()
	return look(t, p, func(tx store.Tx) ([]store.Ref, error) { return tx.Waiting(source, factType, at(to), "", 100) })
}

func waitsReplaced(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	waits := func(factType string, until time.Duration) verdict.Wait {
		return verdict.Wait{Source: "stripe", Type: factType, Until: at(until)}
	}
	keep := func(all ...verdict.Wait) {
		v, c := judged(t, a)
		p.keep(t, func(tx store.Tx) { tx.KeepVerdict(a.Ref, v, c, all) })
	}
	p.keep(t, func(tx store.Tx) { tx.AddAction(a, nil, nil) })
	keep(waits("refund.succeeded", time.Hour), waits("refund.failed", 2*time.Hour))
	for _, test := range []struct {
		source, factType string
		to               time.Duration
		want             int
	}{
		{"stripe", "refund.succeeded", time.Hour - time.Microsecond, 0},
		{"stripe", "refund.succeeded", time.Hour, 1},
		{"stripe", "refund.failed", time.Hour, 0},
		{"stripe", "refund.failed", day, 1},
		{"stripe", "refund.solved", day, 0},
		{"bank", "refund.succeeded", day, 0},
	} {
		if got := waiting(t, p, test.source, test.factType, test.to); len(got) != test.want {
			t.Errorf("for %s of %s up to %s wait %v, want %d", test.factType, test.source, test.to, got, test.want)
		}
	}
	keep(waits("refund.failed", time.Minute))
	if a, b := waiting(t, p, "stripe", "refund.succeeded", day), waiting(t, p, "stripe", "refund.failed", time.Minute); len(a) != 0 || len(b) != 1 {
		t.Errorf("after another verdict %v and %v wait, want none and one", a, b)
	}
	before := look(t, p, func(tx store.Tx) (map[store.Ref]*verdict.Verdict, error) { return tx.Current([]store.Ref{a.Ref}) })
	p.keep(t, func(tx store.Tx) {
		tx.KeepWaits(a.Ref, []verdict.Wait{waits("refund.solved", time.Hour), waits("refund.failed", time.Hour)})
	})
	if a, b := waiting(t, p, "stripe", "refund.failed", time.Minute), waiting(t, p, "stripe", "refund.solved", time.Hour); len(a) != 0 || len(b) != 1 {
		t.Errorf("after other waits alone %v and %v wait, want none and one", a, b)
	}
	after := look(t, p, func(tx store.Tx) (map[store.Ref]*verdict.Verdict, error) { return tx.Current([]store.Ref{a.Ref}) })
	if before[a.Ref].Digest() != after[a.Ref].Digest() {
		t.Error("other waits alone changed the verdict")
	}
	keep()
	if got := waiting(t, p, "stripe", "refund.failed", day); len(got) != 0 {
		t.Errorf("nobody should wait any more, and %v do", got)
	}
}

func waitingInParts(t *testing.T, s *suite) {
	p := s.workspace(t)
	const n = 25
	for i := range n {
		a := action(i)
		v, c := judged(t, a)
		p.keep(t, func(tx store.Tx) {
			tx.AddAction(a, nil, nil)
			tx.KeepVerdict(a.Ref, v, c, []verdict.Wait{{Source: "stripe", Type: "refund.succeeded", Until: at(time.Duration(n-i) * time.Hour)}})
		})
	}
	var got []store.Ref
	after := store.Ref("")
	for {
		part := look(t, p, func(tx store.Tx) ([]store.Ref, error) {
			return tx.Waiting("stripe", "refund.succeeded", at(20*time.Hour), after, 7)
		})
		if len(part) == 0 {
			break
		}
		if len(part) > 7 || part[0] <= after {
			t.Fatalf("after %q come %v", after, part)
		}
		got, after = append(got, part...), part[len(part)-1]
	}
	var want []store.Ref
	for i := 5; i < n; i++ {
		want = append(want, ref(i))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("there wait %v, want %v", got, want)
	}
}
