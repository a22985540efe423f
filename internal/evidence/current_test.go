package evidence_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

func after(d time.Duration) value.Instant { return noon.Add(d) }

func amount(text string) map[string]value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return map[string]value.Value{"amount": value.OfMoney(a)}
}

func refund(id string) evidence.Fact {
	return evidence.Fact{Source: "stripe", ExternalID: id, Type: "refund.succeeded", OccurredAt: noon}
}

// with changes a copy.
func with(f evidence.Fact, change func(*evidence.Fact)) evidence.Fact {
	change(&f)
	return f
}

func TestTheCurrentRevision(t *testing.T) {
	t.Parallel()
	plain := refund("re_1")
	for _, test := range []struct {
		name     string
		facts    []evidence.Fact
		want     int // index of the current one
		disputed bool
	}{
		{"is the higher of two numbers, though it was seen and came earlier", []evidence.Fact{
			with(plain, func(f *evidence.Fact) {
				f.Revision, f.ObservedAt, f.IngestedAt = 2, after(1*time.Second), after(1*time.Second)
			}),
			with(plain, func(f *evidence.Fact) {
				f.Revision, f.ObservedAt, f.IngestedAt = 1, after(9*time.Second), after(9*time.Second)
			}),
		}, 0, false},
		{"is the one observed later where there are no numbers, though it came earlier", []evidence.Fact{
			with(plain, func(f *evidence.Fact) { f.ObservedAt, f.IngestedAt = after(2*time.Second), after(3*time.Second) }),
			with(plain, func(f *evidence.Fact) { f.ObservedAt, f.IngestedAt = after(1*time.Second), after(4*time.Second) }),
		}, 0, false},
		{"is a numbered one before any without a number", []evidence.Fact{
			with(plain, func(f *evidence.Fact) { f.ObservedAt = after(time.Hour) }),
			with(plain, func(f *evidence.Fact) { f.Revision, f.Retracted = 1, true }),
		}, 1, false},
		{"is the later one when its type changed within the family", []evidence.Fact{
			with(plain, func(f *evidence.Fact) { f.ObservedAt = after(1 * time.Second) }),
			with(plain, func(f *evidence.Fact) { f.Type, f.ObservedAt = "refund.failed", after(2*time.Second) }),
		}, 1, false},
		{"is the first to arrive of two that say the same", []evidence.Fact{
			with(plain, func(f *evidence.Fact) { f.Attrs, f.IngestedAt = amount("180.00 USD"), after(9*time.Second) }),
			with(plain, func(f *evidence.Fact) {
				f.Attrs, f.IngestedAt, f.Mode = amount("180.0 USD"), after(5*time.Second), "event"
			}),
		}, 1, false},
		{"is disputed where one number has two contents, however often each is told", []evidence.Fact{
			with(plain, func(f *evidence.Fact) {
				f.Revision, f.Attrs, f.ObservedAt = 3, amount("170.00 USD"), after(5*time.Second)
			}),
			with(plain, func(f *evidence.Fact) {
				f.Revision, f.Attrs, f.ObservedAt = 3, amount("180.00 USD"), after(6*time.Second)
			}),
			with(plain, func(f *evidence.Fact) {
				f.Revision, f.Attrs, f.ObservedAt = 3, amount("180.00 USD"), after(7*time.Second)
			}),
		}, 0, true},
		{"is not disputed by an older revision that was", []evidence.Fact{
			with(plain, func(f *evidence.Fact) { f.Revision, f.Attrs = 3, amount("170.00 USD") }),
			with(plain, func(f *evidence.Fact) { f.Revision, f.Attrs = 3, amount("180.00 USD") }),
			with(plain, func(f *evidence.Fact) { f.Revision, f.Attrs = 4, amount("190.00 USD") }),
		}, 2, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := evidence.Current(test.facts, after(24*time.Hour))
			if len(got) != 1 {
				t.Fatalf("%d facts are current, want 1", len(got))
			}
			if got[0].Fact != &test.facts[test.want] || got[0].Disputed != test.disputed {
				t.Errorf("got %+v, disputed %v; want %+v, disputed %v", *got[0].Fact, got[0].Disputed, test.facts[test.want], test.disputed)
			}
		})
	}
}

func TestWhatArrivesLaterIsNotKnownYet(t *testing.T) {
	t.Parallel()
	facts := []evidence.Fact{
		with(refund("re_1"), func(f *evidence.Fact) { f.Revision, f.IngestedAt = 1, after(time.Minute) }),
		with(refund("re_1"), func(f *evidence.Fact) { f.Revision, f.IngestedAt = 2, after(time.Hour) }),
	}
	for _, test := range []struct {
		at   time.Duration
		want []int64
	}{{59 * time.Second, nil}, {time.Minute, []int64{1}}, {time.Hour - time.Microsecond, []int64{1}}, {time.Hour, []int64{2}}} {
		var got []int64
		for _, r := range evidence.Current(facts, after(test.at)) {
			got = append(got, r.Fact.Revision)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("at +%s revisions %v are current, want %v", test.at, got, test.want)
		}
	}
}

func TestFactsOfOtherSourcesAndFamiliesAreOtherFacts(t *testing.T) {
	t.Parallel()
	facts := []evidence.Fact{
		refund("re_2"), refund("re_1"),
		with(refund("re_1"), func(f *evidence.Fact) { f.Type = "charge.failed" }),
		with(refund("re_1"), func(f *evidence.Fact) { f.Source = "bank" }),
		with(refund("re_0"), func(f *evidence.Fact) { f.Type = "refund.failed" }),
	}
	var got []int
	for _, r := range evidence.Current(facts, noon) {
		got = append(got, slices.IndexFunc(facts, func(f evidence.Fact) bool {
			return f.Source == r.Fact.Source && f.Type == r.Fact.Type && f.ExternalID == r.Fact.ExternalID
		}))
	}
	// By source, type and external id.
	if want := []int{3, 2, 4, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got the facts %v, want %v", got, want)
	}
}

// anyFacts draws revisions of few facts, with few contents, so that same and
// different ones of one order happen often.
func anyFacts(t *rapid.T) []evidence.Fact {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) evidence.Fact {
		f := refund(rapid.SampledFrom([]string{"re_1", "re_2"}).Draw(t, "id"))
		f.Type = rapid.SampledFrom([]string{"refund.succeeded", "refund.failed", "refundable.x"}).Draw(t, "type")
		f.Revision = rapid.Int64Range(0, 2).Draw(t, "revision")
		f.ObservedAt = after(time.Duration(rapid.IntRange(0, 2).Draw(t, "observed")) * time.Second)
		f.IngestedAt = after(time.Duration(rapid.IntRange(0, 3).Draw(t, "ingested")) * time.Minute)
		f.Retracted = rapid.Bool().Draw(t, "retracted")
		f.Attrs = amount(rapid.SampledFrom([]string{"1 USD", "1.0 USD", "1 EUR"}).Draw(t, "amount"))
		f.Refs = rapid.SampledFrom([]map[string]string{nil, {"key": "a"}, {"key": "b"}}).Draw(t, "refs")
		return f
	}), 1, 8).Draw(t, "facts")
}

func TestTheOrderOfArrivalNeverPicksTheCurrentRevision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		facts := anyFacts(t)
		at := after(time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Minute)
		shuffled := rapid.Permutation(facts).Draw(t, "shuffled")
		one, other := evidence.Current(facts, at), evidence.Current(shuffled, at)
		if !slices.EqualFunc(one, other, func(a, b evidence.Resolved) bool {
			return a.Disputed == b.Disputed && evidence.Compare(a.Fact, b.Fact) == 0
		}) {
			t.Fatalf("in one order %v, in another %v", one, other)
		}
	})
}

func TestAReplayNeverChangesWhatIsCurrent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		facts := anyFacts(t)
		replayed := rapid.SampledFrom(facts).Draw(t, "replayed")
		again := after(4 * time.Minute)
		before := evidence.Current(facts, again)
		replayed.IngestedAt = again
		after := evidence.Current(append(slices.Clone(facts), replayed), again)
		if !slices.EqualFunc(before, after, func(a, b evidence.Resolved) bool {
			return a.Disputed == b.Disputed && a.Fact.SameContent(b.Fact)
		}) {
			t.Fatalf("before %v, after the replay %v", before, after)
		}
	})
}

func TestSortedFactsStandInOneOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		facts := anyFacts(t)
		shuffled := rapid.Permutation(facts).Draw(t, "shuffled")
		byOrder := func(a, b evidence.Fact) int { return evidence.Compare(&a, &b) }
		slices.SortFunc(facts, byOrder)
		slices.SortFunc(shuffled, byOrder)
		if !slices.EqualFunc(facts, shuffled, func(a, b evidence.Fact) bool {
			return a.SameContent(&b) && a.IngestedAt == b.IngestedAt && a.Revision == b.Revision && a.ObservedAt == b.ObservedAt
		}) {
			t.Fatalf("%v and %v", facts, shuffled)
		}
	})
}

func BenchmarkCurrentOfThreeFacts(b *testing.B) {
	facts := []evidence.Fact{refund("re_3"), refund("re_1"), refund("re_2")}
	b.ReportAllocs()
	for b.Loop() {
		evidence.Current(facts, noon)
	}
}
