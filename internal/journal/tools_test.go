package journal

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// lists records a list of tools: names and definitions in turn.
func (r *recording) lists(pairs ...string) {
	r.t.Helper()
	d := &entry.Detail{}
	for i := 0; i < len(pairs); i += 2 {
		definition := []byte(pairs[i+1])
		hash := entry.Hash(sha256.Sum256(definition))
		if err := r.journal.Define(r.ctx, hash, definition); err != nil {
			r.t.Fatal(err)
		}
		d.Tools = append(d.Tools, entry.ToolRef{Name: text(pairs[i]), SHA256: hash, Bytes: int64(len(definition)), Kept: true})
	}
	r.append(&entry.Entry{Kind: entry.KindTools, From: "server", Messages: int64(len(d.Tools)), Definitions: DefinitionsHash(d.Tools), Call: -1, Took: -1, ExitCode: -1}, d)
}

func hashOf(s string) entry.Hash { return sha256.Sum256([]byte(s)) }

// toolHome has two servers; a definition of the first changes, twice.
func toolHome(t *testing.T) (home string, first, second *recording) {
	home = t.TempDir()
	j := openJournal(t, home, Options{})
	first = record(t, j, newSession())
	first.at = scaleStart
	first.lists("refund", `{"v":1}`, "list", `{"l":1}`)
	first.answer(first.request("refund", 10), entry.OutcomeOK, 10, 10)
	first.end(0)
	second = record(t, j, newSession())
	second.at = scaleStart + rollup.HourUS
	second.lists("refund", `{"v":2}`, "list", `{"l":1}`)
	second.answer(second.request("refund", 10), entry.OutcomeOK, 10, 10)
	second.at = scaleStart + 2*rollup.HourUS
	second.answer(second.request("refund", 10), entry.OutcomeOK, 10, 10)
	second.lists("refund", `{"v":3}`)
	second.end(0)
	closeJournal(t, j)
	return home, first, second
}

func TestAToolIsListedWithItsNewestDefinitionAndTheOneBefore(t *testing.T) {
	t.Parallel()
	home, first, second := toolHome(t)
	r := openReader(t, home)
	list := Tool{
		Label: "shop", Name: "list", FirstSeen: scaleStart, LastSeen: scaleStart + rollup.HourUS,
		SHA256: hashOf(`{"l":1}`), Bytes: 7, Definition: []byte(`{"l":1}`),
	}
	refund := Tool{
		Label: "shop", Name: "refund", Calls: 3, FirstSeen: scaleStart, LastSeen: scaleStart + 2*rollup.HourUS + 2_000, ChangedAt: scaleStart + 2*rollup.HourUS + 2_000,
		SHA256: hashOf(`{"v":3}`), Bytes: 7, Previous: hashOf(`{"v":2}`), Definition: []byte(`{"v":3}`), PreviousDefinition: []byte(`{"v":2}`),
	}
	counted := func(calls int64) Tool {
		one := refund
		one.Calls = calls
		return one
	}
	for _, test := range []struct {
		name   string
		filter ToolFilter
		want   []Tool
	}{
		{"all", ToolFilter{}, []Tool{list, refund}},
		{"of another label", ToolFilter{Label: "other"}, nil},
		{"of the first session", ToolFilter{Session: first.session}, []Tool{list, counted(1)}},
		{"of the second session", ToolFilter{Session: second.session}, []Tool{list, counted(2)}},
		{"since an hour", ToolFilter{Since: scaleStart + 2*rollup.HourUS}, []Tool{counted(1)}},
		{"since a moment within an hour", ToolFilter{Since: scaleStart + rollup.HourUS + 1_000_000}, []Tool{counted(1)}},
	} {
		got, err := r.Tools(testContext(t), test.filter)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

func TestAnEditOfADerivedTableIsFound(t *testing.T) {
	t.Parallel()
	home, first, _ := toolHome(t)
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	r.told("fetch", "args", &entry.Destinations{Hosts: []string{"example.com"}}, entry.OutcomeError, "said")
	r.request("hang", 10)
	closeJournal(t, j)
	_ = first
	for _, test := range []struct{ name, change, says string }{
		{"a count of calls", "UPDATE rollups SET calls = calls + 1 WHERE tool = 'refund' AND session = 1", "not what their entries add up to"},
		{"a sum of all sessions", "UPDATE rollups SET returned = returned - 1 WHERE tool = 'refund' AND session = 0", "not what their entries add up to"},
		{"the biggest calls", "UPDATE rollups SET extremes = x'0000000000' WHERE tool = 'refund'", "not what their entries add up to"},
		{"a histogram", "UPDATE rollups SET times = x'0a05' WHERE tool = 'refund'", "not what their entries add up to"},
		{"a tool that nobody called", "UPDATE rollups SET tool = 'other' WHERE tool = 'refund' AND session = 1", "in no entry"},
		{"a roll-up that is gone", "DELETE FROM rollups WHERE tool = 'refund' AND session = 1", "roll-ups are missing"},
		{"a count of failures", "UPDATE failures SET calls = 7 WHERE session = 0", "not those of the entries"},
		{"an error code", "UPDATE failures SET error = '-1' WHERE session > 0", "not those of the entries"},
		{"failures that are gone", "DELETE FROM failures", "counts of failures are missing"},
		{"an open request that is not listed", "DELETE FROM unanswered", "is not listed as such"},
		{"an open request that has its answer", "INSERT INTO unanswered VALUES (2, 1)", "and is none"},
		{"a destination", "UPDATE destinations SET place = 'com.example2.'", "not those of its detail"},
		{"a destination that is gone", "DELETE FROM destinations", "not those of its detail"},
		{"a destination that nobody named", "INSERT INTO destinations VALUES (2, 'com.example.', 1, 5)", "does not name"},
		{"the time of a destination", "UPDATE destinations SET at = at + 1", "not those of its detail"},
		{"a definition", `UPDATE definitions SET data = CAST('{"v":9}' AS BLOB)`, "definition of a tool"},
		{"a list of tools", "UPDATE entries SET leaf = CAST(replace(leaf, '\"messages\":2', '\"messages\":3') AS BLOB) WHERE n = 1", "list of tools is not the one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			copied := copyHome(t, home)
			tamper(t, copied, run(test.change))
			report := verify(t, copied, VerifyOptions{})
			for _, finding := range report.Findings {
				if strings.Contains(finding.What, test.says) {
					return
				}
			}
			t.Errorf("nothing says %q: %+v", test.says, report.Findings)
		})
	}
}

func TestADefinitionThatHasAnotherHashIsRefused(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), Options{})
	if err := j.Define(testContext(t), hashOf("a"), []byte("b")); err == nil {
		t.Error("it was taken")
	}
	closeJournal(t, j)
}

func TestManyRecordersAddUpWhatIsOfAllSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const recorders, each = 4, 25
	done := make(chan error, recorders)
	for i := range recorders {
		j := openJournal(t, home, Options{})
		r := record(t, j, newSession())
		go func() {
			defer func() { done <- j.Close(r.ctx) }()
			for n := range each {
				r.answer(r.request(fmt.Sprintf("tool%d", n%2), 10), entry.OutcomeOK, int64(100*i+n), 5)
				if err := j.Sync(r.ctx); err != nil {
					t.Errorf("sync: %v", err)
				}
			}
			r.end(0)
		}()
	}
	for range recorders {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	totals, err := openReader(t, home).Totals(testContext(t), "", 0)
	if err != nil || totals.Calls != recorders*each || totals.Took != 5*recorders*each {
		t.Errorf("together they are %+v, %v", totals, err)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

func TestCallsOfToolsAreCountedByTheLabelOfTheirSession(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string][]string{
		"one label":                       {"shop", "shop", "shop"},
		"one that most have":              {"shop", "files", "shop", "shop", "bank"},
		"none that most have":             {"shop", "files", "shop", "files"},
		"one that most have, and no name": {"shop", "", "shop", "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, Options{})
			want := make(map[offered]int64)
			for i, label := range labels {
				r := &recording{t: t, ctx: testContext(t), journal: j, session: newSession(), at: scaleStart + int64(i)*rollup.HourUS/2}
				r.append(&entry.Entry{Kind: entry.KindSession, Capture: "shape"}, &entry.Detail{Label: label, Transport: "stdio"})
				r.lists("refund", `{}`, "search", `{}`)
				for range i + 1 {
					r.answer(r.request("refund", 10), entry.OutcomeOK, 10, 5)
					want[offered{label, "refund"}]++
				}
				if i%2 == 1 {
					r.request("search", 10)
					want[offered{label, "search"}]++
				}
				r.end(0)
			}
			closeJournal(t, j)
			tools, err := openReader(t, home).Tools(testContext(t), ToolFilter{})
			if err != nil || len(tools) == 0 {
				t.Fatal(tools, err)
			}
			for _, tool := range tools {
				if calls := want[offered{tool.Label, tool.Name}]; tool.Calls != calls {
					t.Errorf("%s of %q was called %d times, not %d", tool.Name, tool.Label, tool.Calls, calls)
				}
			}
		})
	}
}
