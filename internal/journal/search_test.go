package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// told is a call with what can be searched of it.
func (r *recording) told(tool, args string, to *entry.Destinations, outcome entry.Outcome, said string) int64 {
	r.t.Helper()
	call := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 100, Wire: entry.Hash{1}},
		&entry.Detail{ID: text("1"), Method: text("tools/call"), Tool: text(tool), Args: text(args), Destinations: to})
	d := &entry.Detail{ID: text("1"), Method: text("tools/call"), Tool: text(tool)}
	if outcome == entry.OutcomeOK {
		d.Preview = text(said)
	} else {
		d.ErrorText = text(said)
	}
	r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 50, Wire: entry.Hash{2}, Call: call, Took: 10, Outcome: outcome}, d)
	return call
}

func searched(t testing.TB, r *Reader, filter SearchFilter) ([]int64, Found) {
	t.Helper()
	found, err := r.Search(testContext(t), filter)
	if err != nil {
		t.Fatalf("search %+v: %v", filter, err)
	}
	seqs := []int64{}
	for _, call := range found.Calls {
		seqs = append(seqs, call.Seq)
	}
	return seqs, found
}

func TestASearchFindsTheSameWithAndWithoutTheIndex(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	refund := r.told("refund", `{"order":"A-1042","to":"cus_77"}`, &entry.Destinations{Hosts: []string{"api.Stripe.com"}}, entry.OutcomeOK, `refund issued, café closed`)
	failed := r.told("refund", `{"order":"A-1043"}`, &entry.Destinations{Emails: []string{"bob@mail.example.org"}}, entry.OutcomeToolError, `order A-1043 was refunded before`)
	fetch := r.told("fetch", `{"url":"https://[2001:db8::1]/A-1042"}`, &entry.Destinations{IPs: []string{"2001:db8:0::1", "10.0.0.7"}, Hosts: []string{"stripe.com.evil.test"}}, entry.OutcomeOK, `Timeout "quoted"`)
	other := record(t, j, newSession())
	elsewhere := other.told("refund", `{"order":"A-1042"}`, nil, entry.OutcomeOK, "done")
	hung := other.request("refund", 10)
	later := r.at
	last := r.told("list", `{}`, nil, entry.OutcomeOK, "nothing")
	other.end(1)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)

	check := func(t *testing.T, indexed bool) {
		reader := openReader(t, home)
		for _, test := range []struct {
			name   string
			filter SearchFilter
			want   []int64 // places of requests, newest first
		}{
			{"a word of an argument", SearchFilter{Text: "cus_77"}, []int64{refund}},
			{"a phrase with punctuation", SearchFilter{Text: "A-1042"}, []int64{elsewhere, fetch, refund}},
			{"a phrase in one session", SearchFilter{Text: "A-1042", Session: r.session}, []int64{fetch, refund}},
			{"capitals do not matter", SearchFilter{Text: "TIMEOUT"}, []int64{fetch}},
			{"two words in one text", SearchFilter{Text: "refunded A-1043"}, []int64{failed}},
			{"two words in texts of different messages", SearchFilter{Text: "cus_77 issued"}, []int64{}},
			{"part of a word", SearchFilter{Text: "refun"}, []int64{}},
			{"the beginning of a word", SearchFilter{Text: "refun*"}, []int64{failed, refund}},
			{"a word with a mark", SearchFilter{Text: "CAFÉ"}, []int64{refund}},
			{"a word that lacks its mark", SearchFilter{Text: "cafe"}, []int64{}},
			{"a quote", SearchFilter{Text: `"quoted"`}, []int64{fetch}},
			{"what looks like a question to the index", SearchFilter{Text: "text: NOT"}, []int64{}},
			{"a text and a tool", SearchFilter{Text: "A-1042", Tool: "fetch"}, []int64{fetch}},
			{"a text that failed", SearchFilter{Text: "order", Failed: true}, []int64{failed}},
			{"a text since a time", SearchFilter{Text: "A-1042", Since: later}, []int64{}},
			{"a text and a host", SearchFilter{Text: "A-1042", Host: "stripe.com"}, []int64{refund}},
			{"a host", SearchFilter{Host: "api.stripe.com"}, []int64{refund}},
			{"all below a host, and nothing that only looks like it", SearchFilter{Host: "STRIPE.com."}, []int64{refund}},
			{"a mail address", SearchFilter{Host: "Bob@mail.example.org"}, []int64{failed}},
			{"the host of a mail address", SearchFilter{Host: "example.org"}, []int64{failed}},
			{"an address in another spelling", SearchFilter{Host: "[2001:0db8::1]"}, []int64{fetch}},
			{"part of an address", SearchFilter{Host: "10.0.0"}, []int64{}},
			{"a host of a tool that never went there", SearchFilter{Host: "stripe.com", Tool: "fetch"}, []int64{}},
			{"a tool", SearchFilter{Tool: "refund"}, []int64{hung, elsewhere, failed, refund}},
			{"a tool that failed", SearchFilter{Tool: "refund", Failed: true}, []int64{hung, failed}},
			{"whatever failed", SearchFilter{Failed: true}, []int64{hung, failed}},
			{"a session since a time", SearchFilter{Session: r.session, Since: later}, []int64{last}},
			{"a session that is not there", SearchFilter{Session: newSession(), Text: "order"}, []int64{}},
		} {
			got, found := searched(t, reader, test.filter)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
			if found.Unsearched != 0 || found.More {
				t.Errorf("%s: the answer says %+v", test.name, found)
			}
			byIndex := test.filter.Text != "" && test.filter.Host == "" && test.filter.Tool == "" && !test.filter.Failed && test.name != "a session that is not there"
			if byIndex && indexed != (found.Unindexed == 0) {
				t.Errorf("%s: %d entries are not in the index", test.name, found.Unindexed)
			}
		}
		if got, found := searched(t, reader, SearchFilter{Text: "A-1042", Limit: 2}); !found.More || !slices.Equal(got, []int64{elsewhere, fetch}) {
			t.Errorf("the two newest are %v, and that there are more is %v", got, found.More)
		}
		if _, err := reader.Search(testContext(t), SearchFilter{Text: " -- "}); !errors.As(err, new(*SearchTextError)) {
			t.Errorf("a search for no word says %v", err)
		}
	}
	check(t, false)
	if left, err := IndexTexts(testContext(t), home); err != nil || left != 0 {
		t.Fatalf("the index is brought on to %d from the end, %v", left, err)
	}
	check(t, true)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

func TestPagesOfASearchAreTheNewestCallsOfAllThatMatch(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	var want []int64
	for i := range 700 {
		words := "common"
		if i%3 == 0 {
			words += " third"
		}
		call := r.told("list", words, &entry.Destinations{Hosts: []string{"example.com"}}, entry.OutcomeOK, words)
		if i%3 == 0 && call > 600 {
			want = append(want, call)
		}
	}
	slices.Reverse(want)
	closeJournal(t, j)
	if _, err := IndexTexts(testContext(t), home); err != nil {
		t.Fatal(err)
	}
	reader := openReader(t, home)
	for _, filter := range []SearchFilter{
		{Text: "third", Limit: len(want)},
		{Text: "third common", Host: "example.com", Limit: len(want)},
	} {
		if got, found := searched(t, reader, filter); !slices.Equal(got, want) || !found.More {
			t.Errorf("%+v finds %d calls, not the newest %d", filter, len(got), len(want))
		}
	}
}

func TestASearchThatWouldLookAtTooMuchSaysWhereItStopped(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	var calls []int64
	for range 900 {
		calls = append(calls, r.told("list", "common", nil, entry.OutcomeOK, "done"))
	}
	closeJournal(t, j)
	if _, err := IndexTexts(testContext(t), home); err != nil {
		t.Fatal(err)
	}
	reader := openReader(t, home)
	filter := SearchFilter{Text: "common", Limit: 600}
	stopped, err := reader.search(testContext(t), filter, 2*searchPage)
	if err != nil {
		t.Fatal(err)
	}
	oldest := calls[len(calls)-2*searchPage]
	if len(stopped.Calls) != 2*searchPage || stopped.StoppedAt != oldest || stopped.Calls[2*searchPage-1].Seq != oldest {
		t.Errorf("it found %d calls and stopped at %d, not %d", len(stopped.Calls), stopped.StoppedAt, oldest)
	}
	through, err := reader.search(testContext(t), filter, examinedMost)
	if err != nil || len(through.Calls) != 600 || through.StoppedAt != 0 || !through.More {
		t.Errorf("with more room it found %d calls and stopped at %d, %v", len(through.Calls), through.StoppedAt, err)
	}
}

func TestARecorderBringsTheIndexOnWhenItHasNothingElseToDo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	for i := range 3 * fewTexts {
		r.told("list", fmt.Sprintf("call%d", i), nil, entry.OutcomeOK, "done")
	}
	reader := openReader(t, home)
	deadline := time.Now().Add(time.Minute)
	for {
		_, found := searched(t, reader, SearchFilter{Text: "call7"})
		if len(found.Calls) == 1 && found.Unindexed == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it is %+v", found)
		}
	}
	closeJournal(t, j)
}

func TestWhatWasErasedIsNotFoundAndItsWordsAreNotOnTheDisk(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := record(t, j, newSession())
	var calls []int64
	for i := range 40 {
		s := secret(i)
		calls = append(calls, r.told("tool"+s, "asked"+s, &entry.Destinations{Hosts: []string{s + ".example.com"}, Emails: []string{"x@" + s}}, entry.OutcomeToolError, "said"+s))
	}
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := IndexTexts(testContext(t), home); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for i, call := range calls {
		if i%4 == 0 {
			continue
		}
		eraseNow(t, home, EraseRequest{Session: r.session, Seq: call})
		s := secret(i)
		domain := strings.Split(hostPlace(s), ".")[0]
		gone = append(gone, "tool"+s, "asked"+s, "said"+s, domain)
	}
	r.end(0)
	closeJournal(t, j)
	if found := filesWith(t, home, gone...); found != nil {
		t.Errorf("erased words are still on disk: %v", found)
	}
	reader := openReader(t, home)
	for i := range calls {
		s := secret(i)
		for _, filter := range []SearchFilter{{Text: "asked" + s}, {Text: "said" + s}, {Host: s + ".example.com"}, {Tool: "tool" + s}} {
			got, _ := searched(t, reader, filter)
			if there := len(got) == 1; there != (i%4 == 0) {
				t.Errorf("call %d is found: %v, by %+v", i, there, filter)
			}
		}
	}
	stats, err := reader.Stats(testContext(t), StatsFilter{AllMethods: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range stats {
		if want := int64(1); one.Tool != "" && one.Calls != want || one.Tool == "" && one.Calls != 30 {
			t.Errorf("%d calls are counted for tool %q", one.Calls, one.Tool)
		}
	}
	if len(stats) != 11 {
		t.Errorf("%d tools are known, want 10 and the erased ones", len(stats))
	}
	intact(t, home)
}

func TestADestinationComesBackFromItsPlaceAndLiesBelowItsDomain(t *testing.T) {
	t.Parallel()
	label := rapid.StringMatching(`[a-z0-9-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		domain := strings.Join(rapid.SliceOfN(label, 1, 4).Draw(t, "domain"), ".")
		email := label.Draw(t, "local") + "@" + domain
		below := label.Draw(t, "label") + "." + domain
		beside := label.Draw(t, "prefix") + domain
		for kind, name := range map[string]string{"host": domain, "email": email} {
			place := hostPlace(name)
			if kind == "email" {
				place = emailPlace(name)
			}
			if gotKind, got := placeName(place); gotKind != kind || got != name {
				t.Fatalf("%s comes back as %s %s", name, gotKind, got)
			}
		}
		from, end := placeRange(domain)
		within := func(place string) bool { return place >= from && place < end }
		if !within(hostPlace(domain)) || !within(hostPlace(below)) || !within(emailPlace(email)) || within(hostPlace(beside)) {
			t.Fatalf("what belongs to %s is %v to %v", domain, from, end)
		}
	})
}
