package verdict

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

func TestAnyCaseReadAgainIsTheSameCase(t *testing.T) {
	t.Parallel()
	governing, err := contract.Parse(refundText)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, governing)
		text := c.AppendJSON(nil)
		again, err := DecodeCase(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if rewritten := again.AppendJSON(nil); !bytes.Equal(rewritten, text) {
			t.Fatalf("written otherwise (-first +second):\n%s", cmp.Diff(string(text), string(rewritten)))
		}
		if again.Digest() != c.Digest() {
			t.Fatal("the digest is another")
		}
	})
}

func drawCase(t *rapid.T, governing *contract.Contract) *Case {
	id := drawWord(t, "id")
	c := &Case{Engine: Engine, At: drawInstant(t)}
	for range rapid.IntRange(1, 3).Draw(t, "declarations") {
		c.Declarations = append(c.Declarations, drawDeclaration(t, id))
	}
	if rapid.Bool().Draw(t, "governed") {
		c.Declarations[0].ContractID = governing.ID
		c.Governing = &Governing{Contract: governing, Version: rapid.IntRange(1, 9).Draw(t, "version"), Mode: rapid.SampledFrom([]Mode{Live, Shadow}).Draw(t, "mode")}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "rivals") {
		c.Rivals = append(c.Rivals, drawDeclaration(t, fmt.Sprint(id, "-", i)))
	}
	for range rapid.IntRange(0, 4).Draw(t, "facts") {
		c.Facts = append(c.Facts, drawFact(t))
	}
	c.Sources = drawSources(t)
	for i := range rapid.IntRange(0, 2).Draw(t, "history") {
		to := drawInstant(t)
		h := History{Limit: fmt.Sprint("limit-", i), To: to, From: to.Add(-time.Duration(rapid.Int64Range(0, 1e17).Draw(t, "over"))), Count: rapid.IntRange(0, 5).Draw(t, "count")}
		for _, code := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z]{3}`), 0, 3, rapid.ID).Draw(t, "currencies") {
			h.Totals = append(h.Totals, money.Amount{Value: drawDecimal(t), Currency: money.Currency(code)})
		}
		c.History = append(c.History, h)
	}
	for range rapid.IntRange(0, 2).Draw(t, "shared") {
		c.Shared = append(c.Shared, Shared{Source: drawWord(t, "s"), Type: "a.b", ExternalID: drawWord(t, "x"), ActionID: id, ContractID: drawWord(t, "c")})
	}
	c.Compensators = drawCompensators(t)
	if rapid.Bool().Draw(t, "compensates") {
		c.Compensates = &Target{ActionID: drawWord(t, "target"), Chain: rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 0, 3).Draw(t, "chain"), Earlier: drawCompensators(t)}
	}
	if rapid.Bool().Draw(t, "previous") {
		c.Previous = &Previous{
			Digest: "sha256:" + rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "digest"), Revision: rapid.IntRange(1, 5).Draw(t, "revision"),
			SettledAt: drawInstant(t), Outcome: Pass, Conformance: Unknown, Sources: drawSources(t),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "checks") {
			c.Previous.Checks = append(c.Previous.Checks, PreviousCheck{ID: fmt.Sprint("check-", i), Result: Fail, Codes: []Code{EffectMissing, LateEffect}})
		}
	}
	return c
}

func drawWord(t *rapid.T, label string) string {
	return rapid.StringN(1, 8, 20).Draw(t, label)
}

func drawInstant(t *rapid.T) value.Instant {
	return value.Instant(rapid.Int64Range(31536000e6, 4e15).Draw(t, "instant"))
}

func drawDecimal(t *rapid.T) money.Decimal {
	text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?(e[+-]?[0-4]?[0-9]{1,2})?`).Draw(t, "number")
	d, err := money.ParseDecimal(text)
	if err != nil { // it would take too many digits
		return money.Decimal{}
	}
	return d
}

func drawValue(t *rapid.T, depth int) value.Value {
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return value.Value{}
	case 1:
		return value.OfBool(rapid.Bool().Draw(t, "bool"))
	case 2:
		return value.OfString(rapid.String().Draw(t, "text"))
	case 3:
		return value.OfDecimal(drawDecimal(t))
	case 4:
		return value.OfMoney(money.Amount{Value: drawDecimal(t), Currency: "EUR"})
	case 5:
		return value.OfTime(drawInstant(t))
	}
	var elements []value.Value
	if depth < 3 {
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			elements = append(elements, drawValue(t, depth+1))
		}
	}
	return value.OfList(elements)
}

func drawValues(t *rapid.T) map[string]value.Value {
	values := map[string]value.Value{}
	for range rapid.IntRange(0, 20).Draw(t, "values") {
		values[rapid.String().Draw(t, "name")] = drawValue(t, 0)
	}
	return values
}

func drawDeclaration(t *rapid.T, id string) Declaration {
	d := Declaration{ActionID: id, ReceivedAt: drawInstant(t), Params: drawValues(t)}
	if rapid.Bool().Draw(t, "more") {
		d.RequestedAt, d.SubjectID, d.AgentID, d.ContractVersion = drawInstant(t), rapid.String().Draw(t, "subject"), drawWord(t, "agent"), 3
	}
	return d
}

func drawFact(t *rapid.T) evidence.Fact {
	f := evidence.Fact{Source: drawWord(t, "source"), ExternalID: drawWord(t, "external"), Type: drawWord(t, "type"), OccurredAt: drawInstant(t), Attrs: drawValues(t)}
	if rapid.Bool().Draw(t, "more") {
		f.Refs = rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, "refs")
		f.Mode, f.Revision, f.Retracted = evidence.State, rapid.Int64Range(0, largestInt).Draw(t, "revision"), rapid.Bool().Draw(t, "retracted")
	}
	return f
}

func drawSources(t *rapid.T) []evidence.Source {
	var sources []evidence.Source
	for i := range rapid.IntRange(0, 3).Draw(t, "sources") {
		s := evidence.Source{Name: fmt.Sprint("source-", i), Trust: evidence.Trust(rapid.IntRange(1, 4).Draw(t, "trust"))}
		s.Resolution = evidence.Resolution(time.Duration(rapid.Int64Range(0, 86400e6).Draw(t, "resolution")) * time.Microsecond)
		s.Provides = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]\.[a-c]`), 0, 3, rapid.ID).Draw(t, "provides")
		for range rapid.IntRange(0, 3).Draw(t, "watermarks") {
			if s.Watermarks == nil {
				s.Watermarks = map[string]value.Instant{}
			}
			s.Watermarks[drawWord(t, "type")] = drawInstant(t)
		}
		sources = append(sources, s)
	}
	return sources
}

func drawCompensators(t *rapid.T) []Compensator {
	var list []Compensator
	for i := range rapid.IntRange(0, 3).Draw(t, "compensators") {
		c := Compensator{ActionID: fmt.Sprint("undo-", i), ContractID: "undo", DeclaredAt: drawInstant(t), Status: Settled, Outcome: Pass}
		if rapid.Bool().Draw(t, "verified") {
			c.Verified = &money.Amount{Value: drawDecimal(t), Currency: "USD"}
		}
		list = append(list, c)
	}
	return list
}

// Whatever DecodeCase accepts has one canonical form, which it accepts too.
func FuzzDecodeCase(f *testing.F) {
	for _, c := range []*Case{refundCase(f), fullCase(f)} {
		text := c.AppendJSON(nil)
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	const begin = `{"at":"2026-11-05T12:30:00Z","declarations":[{"action_id":"a","received_at":"2026-11-02T12:00:00Z"`
	for _, rest := range []string{
		`}],"engine":1}`,
		`,"params":{"a":1e400,"b":-0.12e-400,"c":[[null,true],[]],"d":{"time":"2016-12-31T23:59:60Z"},"e":{"amount":1e3,"currency":"usd"}}}],"engine":1}`,
		`,"contract_version":null}],"engine":1}`,
		`}],"engine":1,"sources":[{"name":"s","trust":"asserted","resolution":"1h30m","watermarks":{"\ud834\udd1e":"2026-11-05T12:30:00.123456789+01:00"}}]}`,
		`}],"engine":1,"history":[{"limit":"l","from":"1969-12-31T23:59:59Z","to":"1971-01-01T00:00:00Z","count":0,"complete_to":""}]}`,
		`}],"engine":99}`,
		strings.Repeat(`,"params":{"a":[`, 20),
	} {
		f.Add([]byte(begin + rest))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DecodeCase(text)
		if err != nil {
			return
		}
		canonical := c.AppendJSON(nil)
		again, err := DecodeCase(canonical)
		if err != nil {
			t.Fatalf("%v in\n%s", err, canonical)
		}
		if second := again.AppendJSON(nil); !bytes.Equal(second, canonical) {
			t.Fatalf("written otherwise (-first +second):\n%s", cmp.Diff(string(canonical), string(second)))
		}
		if again.Digest() != c.Digest() {
			t.Fatal("the digest is another")
		}
	})
}
