package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var evidenceLaws = []law{
	{"a fact comes back as it was told, byte for byte", factReturns},
	{"what is told again is not new, however it is spelled", toldAgain},
	{"what differs in anything that is said is another revision", anotherRevision},
	{"of a fact that many report at once one is told that it is new", reportedAtOnce},
	{"facts are listed with the latest kept first, once each while more comes", latestKept},
	{"each filter of facts leaves what it says", factFilters},
	{"a thousand facts are one batch", thousandFacts},
	{"a source keeps its watermarks when it is changed", sourceKeepsMarks},
	{"a source says when it last told something", sourceState},
}

func factReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	whole := fact(1, func(f *store.Fact) {
		f.Revision, f.Retracted, f.Mode = 7, true, evidence.State
		f.Refs["other key"] = "ü' \"; --\\"
		f.Attrs["weight"] = decimal("180.00")
		f.Attrs["empty"] = value.OfString("")
		f.Body = []byte("{\"a\": 1e400,\t\"a\":\"\u2028\"}")
	})
	bare := store.Fact{By: actor}
	bare.Fact = evidence.Fact{Source: "bank", ExternalID: "x", Type: "payment", OccurredAt: at(0), IngestedAt: at(time.Microsecond)}
	report(t, p, whole, bare)
	for _, want := range []store.Fact{whole, bare} {
		got := look(t, p, func(tx store.Tx) ([]store.Fact, error) { return tx.FactRevisions(want.Identity()) })
		if len(got) != 1 {
			t.Fatalf("there are %d", len(got))
		}
		sameFact(t, &got[0], &want)
	}
}

func sameFact(t *testing.T, got, want *store.Fact) {
	t.Helper()
	if evidence.Compare(&got.Fact, &want.Fact) != 0 || got.Revision != want.Revision || !maps.Equal(got.Refs, want.Refs) {
		t.Errorf("it is %+v, want %+v", got.Fact, want.Fact)
	}
	if !bytes.Equal(got.Body, want.Body) || got.By != want.By {
		t.Errorf("it came as %q by %s, want %q by %s", got.Body, got.By, want.Body, want.By)
	}
}

// revisions are the external ids and revision numbers that are kept of a fact.
func revisionsOf(t testing.TB, p place, f store.Fact) []store.Fact {
	t.Helper()
	return look(t, p, func(tx store.Tx) ([]store.Fact, error) { return tx.FactRevisions(f.Identity()) })
}

// add keeps facts and says which are new.
func add(t testing.TB, p place, facts ...store.Fact) []bool {
	t.Helper()
	var fresh []bool
	p.do(t, func(tx store.Tx) (err error) {
		fresh, err = tx.AddFacts(facts)
		return err
	})
	return fresh
}

func toldAgain(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := fact(1, func(f *store.Fact) { f.Attrs["weight"] = decimal("180.0") })
	later := fact(1, func(f *store.Fact) {
		f.Attrs["weight"], f.Attrs["amount"] = decimal("180.00"), amount("80 USD")
		f.IngestedAt, f.Mode, f.Body = at(9*time.Hour), "", []byte(`{"another":"spelling"}`)
	})
	if got := add(t, p, f, f, later); !slices.Equal(got, []bool{true, false, false}) {
		t.Errorf("in one list they are new: %v", got)
	}
	if got := add(t, p, later, fact(2), f); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("after it they are new: %v", got)
	}
	kept := revisionsOf(t, p, f)
	if len(kept) != 1 {
		t.Fatalf("there are %d", len(kept))
	}
	sameFact(t, &kept[0], &f)
	if got := add(t, p); len(got) != 0 {
		t.Errorf("of no facts %v", got)
	}
}

func anotherRevision(t *testing.T, s *suite) {
	p := s.workspace(t)
	changes := []func(*store.Fact){
		func(*store.Fact) {},
		func(f *store.Fact) { f.Revision = 2 },
		func(f *store.Fact) { f.ObservedAt++ },
		func(f *store.Fact) { f.Type = "refund.failed" },
		func(f *store.Fact) { f.SubjectID = "another" },
		func(f *store.Fact) { f.SubjectKind = "another" },
		func(f *store.Fact) { f.OccurredAt++ },
		func(f *store.Fact) { f.Mode = evidence.State },
		func(f *store.Fact) { f.Retracted = true },
		func(f *store.Fact) { f.Payload = "sha256:another" },
		func(f *store.Fact) { f.Refs = map[string]string{"key": "another"} },
		func(f *store.Fact) { f.Refs = map[string]string{"another": actionID(1)} },
		func(f *store.Fact) { f.Refs = nil },
		func(f *store.Fact) {
			f.Attrs = map[string]value.Value{"amount": amount("80.01 USD"), "actor": value.OfString("bot")}
		},
		func(f *store.Fact) {
			f.Attrs = map[string]value.Value{"amount": amount("80.00 EUR"), "actor": value.OfString("bot")}
		},
		func(f *store.Fact) { f.Attrs = map[string]value.Value{"amount": amount("80.00 USD")} },
		func(f *store.Fact) {
			f.Attrs = map[string]value.Value{"amount": value.OfString("80.00"), "actor": value.OfString("bot")}
		},
	}
	var facts []store.Fact
	for _, change := range changes {
		facts = append(facts, fact(1, change))
	}
	for i, fresh := range add(t, p, facts...) {
		if !fresh {
			t.Errorf("the %d. is not new", i)
		}
	}
	got := revisionsOf(t, p, fact(1))
	if len(got) != len(facts) {
		t.Fatalf("there are %d, want %d", len(got), len(facts))
	}
	for i := range got {
		sameFact(t, &got[i], &facts[i]) // in the order in which they were kept
		if i > 0 && got[i].Seq <= got[i-1].Seq {
			t.Errorf("after %d comes %d", got[i-1].Seq, got[i].Seq)
		}
	}
}

func reportedAtOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	var facts []store.Fact
	for n := range 5 {
		facts = append(facts, fact(n))
	}
	var fresh [5]atomic.Int64
	together(t, 10, func(i int) error {
		mine := slices.Clone(facts)
		if i%2 == 1 {
			slices.Reverse(mine)
		}
		var told []bool
		err := p.try(t, func(tx store.Tx) (err error) {
			told, err = tx.AddFacts(mine)
			return err
		})
		for j, is := range told {
			if i%2 == 1 {
				j = len(mine) - 1 - j
			}
			if is {
				fresh[j].Add(1)
			}
		}
		return err
	})
	for n := range facts {
		if got := fresh[n].Load(); got != 1 {
			t.Errorf("%d were told that the %d. is new", got, n)
		}
		if got := revisionsOf(t, p, facts[n]); len(got) != 1 {
			t.Errorf("of the %d. there are %d", n, len(got))
		}
	}
}

func facts(t testing.TB, p place, f store.FactFilter, limit int, between func()) []store.Fact {
	t.Helper()
	return through(t, p, limit, func(tx store.Tx, page store.Page) ([]store.Fact, store.Cursor, error) {
		return tx.ListFacts(f, page)
	}, between)
}

func latestKept(t *testing.T, s *suite) {
	p := s.workspace(t)
	const before = 30
	for n := range before {
		report(t, p, fact(before-n)) // kept in another order than they occurred
	}
	more := before
	got := facts(t, p, store.FactFilter{}, 4, func() {
		more++
		report(t, p, fact(more))
	})
	times := map[string]int{}
	for i := range got {
		times[got[i].ExternalID]++
		if i > 0 && got[i].Seq >= got[i-1].Seq {
			t.Errorf("after %d comes %d", got[i-1].Seq, got[i].Seq)
		}
	}
	for n := 1; n <= before; n++ {
		if id := fmt.Sprintf("re_%d", n); times[id] != 1 {
			t.Errorf("%s came %d times", id, times[id])
		}
	}
}

func factFilters(t *testing.T, s *suite) {
	p := s.workspace(t)
	report(t, p,
		fact(0), fact(1, func(f *store.Fact) { f.Source = "bank" }), fact(2, func(f *store.Fact) { f.Type = "refund.failed" }),
		fact(3, func(f *store.Fact) { f.Refs = map[string]string{"key": actionID(0), "order": "o-9"} }),
		fact(4, func(f *store.Fact) { f.SubjectID = "o-0" }),
		fact(0, func(f *store.Fact) { f.Revision = 2 }),
	)
	for _, test := range []struct {
		name   string
		filter store.FactFilter
		want   []int
	}{
		{"all", store.FactFilter{}, []int{0, 4, 3, 2, 1, 0}},
		{"of a source", store.FactFilter{Source: "bank"}, []int{1}},
		{"of a type", store.FactFilter{Type: "refund.failed"}, []int{2}},
		{"of a source and type", store.FactFilter{Source: "stripe", Type: "refund.succeeded"}, []int{0, 4, 3, 0}},
		{"on a subject", store.FactFilter{SubjectID: "o-0"}, []int{0, 4, 0}},
		{"by external id", store.FactFilter{ExternalID: "re_0"}, []int{0, 0}},
		{"by reference", store.FactFilter{Ref: "key", RefValue: actionID(0)}, []int{0, 3, 0}},
		{"by another reference", store.FactFilter{Ref: "order", RefValue: "o-9"}, []int{3}},
		{"by a reference that is not there", store.FactFilter{Ref: "order", RefValue: "o-1"}, nil},
		{"from a moment on", store.FactFilter{From: at(3 * time.Minute)}, []int{4, 3}},
		{"up to a moment", store.FactFilter{To: at(time.Minute)}, []int{0, 0}},
		{"with several filters", store.FactFilter{Source: "stripe", SubjectID: "o-0", From: at(time.Microsecond)}, []int{4}},
	} {
		for _, limit := range []int{1, 100} {
			var got, want []string
			for _, f := range facts(t, p, test.filter, limit, nil) {
				got = append(got, f.ExternalID)
			}
			for _, n := range test.want {
				want = append(want, fmt.Sprintf("re_%d", n))
			}
			if !slices.Equal(got, want) {
				t.Errorf("those %s, %d at a time, are %v, want %v", test.name, limit, got, want)
			}
		}
	}
}

func thousandFacts(t *testing.T, s *suite) {
	p := s.workspace(t)
	var batch []store.Fact
	for n := range 1000 {
		batch = append(batch, fact(n))
	}
	report(t, p, batch...)
	for i, fresh := range add(t, p, batch...) {
		if fresh {
			t.Fatalf("the %d. is new again", i)
		}
	}
	if got := facts(t, p, store.FactFilter{}, 400, nil); len(got) != 1000 {
		t.Errorf("there are %d", len(got))
	}
}

func sourceKeepsMarks(t *testing.T, s *suite) {
	p := s.workspace(t)
	want := source("stripe")
	p.keep(t, func(tx store.Tx) { tx.PutSource(want); tx.PutSource(source("bank")) })
	p.keep(t, func(tx store.Tx) {
		tx.PutWatermark("stripe", "refund.succeeded", at(time.Hour), actor)
		tx.PutWatermark("stripe", "refund.failed", at(2*time.Hour), actor)
	})
	p.keep(t, func(tx store.Tx) { tx.PutWatermark("stripe", "refund.failed", at(time.Minute), actor) })
	want.Title, want.Trust, want.Provides, want.Resolution = "Another", evidence.Attested, nil, 0
	p.keep(t, func(tx store.Tx) { tx.PutSource(want) })
	want.Watermarks = map[string]value.Instant{"refund.succeeded": at(time.Hour), "refund.failed": at(time.Minute)}
	got := states(t, p)
	if len(got) != 2 || got[0].Name != "bank" || got[1].Name != "stripe" {
		t.Fatalf("there are %+v", got)
	}
	got[1].Facts = 0
	if len(got[1].Provides) == 0 {
		got[1].Provides = nil
	}
	if !reflect.DeepEqual(got[1], want) {
		t.Errorf("it is %+v, want %+v", got[1], want)
	}
	if got := states(t, p, "stripe", "nobody"); len(got) != 1 || got[0].Name != "stripe" {
		t.Errorf("by name there are %+v", got)
	}
}

func states(t testing.TB, p place, names ...string) []store.SourceState {
	t.Helper()
	return look(t, p, func(tx store.Tx) ([]store.SourceState, error) { return tx.SourceStates(names...) })
}

func sourceState(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.PutSource(source("stripe")) })
	if got := states(t, p)[0]; got.Facts != 0 || got.LastFactAt != 0 {
		t.Errorf("before anything was told: %+v", got)
	}
	report(t, p, fact(1), fact(2))
	got := states(t, p)[0]
	if got.Facts != 2 && got.Facts != 0 { // it may lag
		t.Errorf("two were told, and it says %d", got.Facts)
	}
	if got.Facts == 2 && got.LastFactAt == 0 {
		t.Error("it does not say when")
	}
}
