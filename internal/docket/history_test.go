package docket_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// history writes what a limit adds up to: the others, their totals, and how
// many had no amount.
func history(c *verdict.Case, limit string) string {
	for _, h := range c.History {
		if h.Limit == limit {
			var totals []string
			for _, total := range h.Totals {
				totals = append(totals, total.String())
			}
			return fmt.Sprintf("%d: %s; %d", h.Count, strings.Join(totals, ", "), h.Unvalued)
		}
	}
	return "no history"
}

func TestARollingLimitAddsUpTheOthersInItsWindow(t *testing.T) {
	t.Parallel()
	own := refund("own")
	for _, test := range []struct {
		name   string
		others []verdict.Declaration
		want   string
	}{
		{"the action itself is none of them", nil, "0: ; 0"},
		{"one at the window's beginning is out", []verdict.Declaration{refund("a", received(-day))}, "0: ; 0"},
		{"one a microsecond later is in", []verdict.Declaration{refund("a", received(-day+time.Microsecond))}, "1: 80 USD; 0"},
		{"one of the same moment is in", []verdict.Declaration{refund("a")}, "1: 80 USD; 0"},
		{"one a microsecond after is out", []verdict.Declaration{refund("a", received(time.Microsecond))}, "0: ; 0"},
		{"one that was requested before and received after is in", []verdict.Declaration{
			refund("a", received(time.Hour), func(d *verdict.Declaration) { d.RequestedAt = at(-time.Minute) }),
		}, "1: 80 USD; 0"},
		{"decimals are exact", []verdict.Declaration{
			refund("a", param("amount", number("0.1"))), refund("b", param("amount", number("0.2"))),
		}, "2: 0.3 USD; 0"},
		{"currencies stand apart", []verdict.Declaration{
			refund("a", param("currency", value.OfString("eur"))), refund("b"), refund("c", param("currency", value.OfString("EUR"))),
		}, "3: 160 EUR, 80 USD; 0"},
		{"one without a readable amount is counted as such", []verdict.Declaration{
			refund("a", param("amount", value.Value{})), refund("b"),
		}, "2: 80 USD; 1"},
		{"another agent's is out", []verdict.Declaration{refund("a", func(d *verdict.Declaration) { d.AgentID = "other" })}, "0: ; 0"},
		{"another contract's is out", []verdict.Declaration{refund("a", func(d *verdict.Declaration) { d.ContractID = "reversals" })}, "0: ; 0"},
		{"of several declarations of one action the first counts", []verdict.Declaration{
			refund("a", received(-time.Minute), param("amount", number("7"))), refund("a", received(-2*time.Minute), param("amount", number("5"))),
		}, "1: 5 USD; 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := live(t, refunds)
			declare(m, own)
			declare(m, test.others...)
			if got := history(build(t, m, "own", at(2*time.Hour)), "agent_daily"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestActionsWithoutAGroupShareOne(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m,
		refund("none"), refund("none either", param("desk", value.OfString("not a number"))), refund("nor this"),
		refund("seven", param("desk", number("7"))), refund("seven again", param("desk", number("7.0"))),
	)
	for id, want := range map[string]string{"none": "2: ; 0", "seven": "1: ; 0", "seven again": "1: ; 0"} {
		if got := history(build(t, m, id, at(time.Hour)), "desk_daily"); got != want {
			t.Errorf("the others of %q are %q, want %q", id, got, want)
		}
	}
}

func TestWhatIsDeclaredLaterIsNoHistoryYet(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("own"), refund("backdated", received(time.Hour), func(d *verdict.Declaration) { d.RequestedAt = at(-time.Hour) }))
	for when, want := range map[time.Duration]string{59 * time.Minute: "0: ; 0", time.Hour: "1: 80 USD; 0"} {
		if got := history(build(t, m, "own", at(when)), "agent_daily"); got != want {
			t.Errorf("after %s the others are %q, want %q", when, got, want)
		}
	}
}

func TestHistoryIsCompleteAsFarAsDeclarationsAre(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("own"))
	if got := build(t, m, "own", at(time.Hour)).History[0].CompleteTo; got != at(time.Hour) {
		t.Errorf("complete to %s, want the time of the case", got)
	}
	m.DeclaredTo(at(-time.Hour))
	if got := build(t, m, "own", at(time.Hour)).History[0].CompleteTo; got != at(-time.Hour) {
		t.Errorf("complete to %s, want an hour before noon", got)
	}
}

func TestShadowDeclarationsAddUpForShadowOnly(t *testing.T) {
	t.Parallel()
	m := docket.NewMemory()
	k := parse(t, refunds)
	// In the hour before noon the contract was tried out.
	for _, v := range []docket.Version{
		version(k, 1, verdict.Live, 0, at(-time.Hour)),
		version(k, 2, verdict.Shadow, at(-time.Hour), at(-time.Minute)),
		version(k, 3, verdict.Live, at(-time.Minute), at(time.Minute)),
		version(k, 4, verdict.Shadow, at(time.Minute), 0),
	} {
		if err := m.Activate(v); err != nil {
			t.Fatal(err)
		}
	}
	declare(m, refund("live 1", received(-2*time.Hour)), refund("shadow 2", received(-30*time.Minute)), refund("live 3"), refund("shadow 4", received(time.Hour)))
	for id, want := range map[string]string{"shadow 2": "1: 80 USD; 0", "live 3": "1: 80 USD; 0", "shadow 4": "3: 240 USD; 0"} {
		if got := history(build(t, m, id, at(day)), "agent_daily"); got != want {
			t.Errorf("the others of %q are %q, want %q", id, got, want)
		}
	}
}

// A limit of a later version looks back on what earlier ones governed.
func TestANewVersionsLimitCountsWhatCameBeforeIt(t *testing.T) {
	t.Parallel()
	m := docket.NewMemory()
	old := strings.Replace(refunds, "per: agent_id", "per: subject_id", 1)
	declare(m, refund("before", received(-time.Hour), order("o-2")), refund("own"))
	for _, v := range []docket.Version{
		version(parse(t, old), 1, verdict.Live, 0, noon), version(parse(t, refunds), 2, verdict.Live, noon, 0),
	} {
		if err := m.Activate(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := history(build(t, m, "own", at(day)), "agent_daily"); got != "1: 80 USD; 0" {
		t.Errorf("the others are %q", got)
	}
}

func BenchmarkARollingLimitOverAMillionDeclarations(b *testing.B) {
	m := live(b, refunds)
	const n = 1_000_000
	params := map[string]value.Value{"amount": number("1.25")}
	for i := range n {
		// One in a hundred comes out of order, an hour late.
		start := noon.Add(time.Duration(i) * time.Second)
		if i%100 == 0 {
			start = start.Add(-time.Hour)
		}
		m.Declare(verdict.Declaration{ActionID: fmt.Sprint("a", i), ContractID: "refunds", AgentID: "bot", ReceivedAt: start, Params: params})
	}
	k := parse(b, refunds)
	limit := &k.Limits[0]
	end := noon.Add(n * time.Second)
	query := docket.HistoryQuery{Contract: k, Limit: limit, Group: `"bot"`, To: end, At: end}
	for _, length := range []time.Duration{time.Hour, day, n * time.Second} {
		b.Run(length.String(), func(b *testing.B) {
			query.From = end.Add(-length)
			b.ReportAllocs()
			for b.Loop() {
				h, err := m.History(query)
				if err != nil || h.Count == 0 {
					b.Fatal(h, err)
				}
			}
		})
	}
	b.Run("after an insertion at the beginning", func(b *testing.B) {
		query.From = 0
		i := 0
		for b.Loop() {
			i++
			m.Declare(verdict.Declaration{ActionID: fmt.Sprint("late", i), ContractID: "refunds", AgentID: "bot", ReceivedAt: noon.Add(time.Duration(i)), Params: params})
			if _, err := m.History(query); err != nil {
				b.Fatal(err)
			}
		}
	})
}
