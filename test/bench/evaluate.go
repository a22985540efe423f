package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

//go:embed testdata/refund.yaml
var refundContract []byte

// noon is when the refund was declared.
var noon = value.FromTime(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))

// evaluations is what a child reports that evaluated a case many times.
type evaluations struct {
	Bytes, Pieces int64 // asked for by one evaluation
	Held          int64 // bytes of one case
	Canonical     int   // bytes of the case that are digested
}

func readReport(text string, report any) error { return json.Unmarshal([]byte(text), report) }

// evaluate settles one refund n times.
func evaluate(out io.Writer, n int) error {
	records, err := refundRecords()
	if err != nil {
		return err
	}
	c, err := docket.Build(records, "refund-o-1001", noon.Add(73*time.Hour))
	if err != nil {
		return fmt.Errorf("build the case: %w", err)
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		return fmt.Errorf("evaluate the case: %w", err)
	}
	if v.Badge != verdict.Pass || v.Status != verdict.Settled {
		return fmt.Errorf("the case comes to %s, want a settled PASS", v.AppendJSON(nil))
	}
	before := memory()
	for range n {
		v, err := engine.Evaluate(c)
		if err != nil {
			return err
		}
		v.Digest()
	}
	after := memory()
	report := evaluations{
		Bytes:     int64(after.TotalAlloc-before.TotalAlloc) / int64(n),
		Pieces:    int64(after.Mallocs-before.Mallocs) / int64(n),
		Canonical: len(c.AppendJSON(nil)) - len(c.Governing.Contract.Text),
	}
	if report.Held, err = held(c); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

// held reads the case many times and says what one of them takes. They share
// their contract, as cases of one server do.
func held(c *verdict.Case) (int64, error) {
	const copies = 10_000
	small := *c
	small.Governing = nil
	text := small.AppendJSON(nil)
	kept := make([]*verdict.Case, copies)
	runtime.GC()
	before := memory().HeapAlloc
	for i := range kept {
		again, err := verdict.DecodeCase(text)
		if err != nil {
			return 0, fmt.Errorf("read the case: %w", err)
		}
		kept[i] = again
	}
	runtime.GC()
	size := int64(memory().HeapAlloc-before) / copies
	runtime.KeepAlive(kept)
	return size, nil
}

func memory() runtime.MemStats {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats
}

// refundRecords hold a refund of 180.00 USD that was approved, made and told.
func refundRecords() (*docket.Memory, error) {
	k, err := contract.Parse(refundContract)
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	m := docket.NewMemory()
	if err := m.Activate(docket.Version{Governing: verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live}}); err != nil {
		return nil, fmt.Errorf("activate the contract: %w", err)
	}
	m.Declare(refundDeclaration("refund-o-1001", "o-1001", noon))
	amount, err := money.Parse("180.00 USD")
	if err != nil {
		return nil, err
	}
	for _, f := range []evidence.Fact{
		{
			Source: "approvals", ExternalID: "ap_7", Type: "approval.granted", Refs: map[string]string{"action_id": "refund-o-1001"},
			OccurredAt: noon.Add(-20 * time.Minute),
		},
		{
			Source: "stripe", ExternalID: "re_1", Type: "refund.succeeded", Refs: map[string]string{"idempotency_key": "refund-o-1001", "refund": "re_1"},
			Attrs: map[string]value.Value{"amount": value.OfMoney(amount)}, OccurredAt: noon.Add(4 * time.Second),
		},
		{
			Source: "zendesk", ExternalID: "t_88", Type: "ticket.solved", Refs: map[string]string{"idempotency_key": "refund-o-1001"},
			OccurredAt: noon.Add(3 * time.Hour),
		},
	} {
		f.SubjectID, f.SubjectKind, f.IngestedAt = "o-1001", "order", f.OccurredAt.Add(time.Minute)
		m.Report(f)
	}
	complete := noon.Add(73 * time.Hour)
	m.Connect(evidence.Source{Name: "approvals", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"approval.granted": complete}})
	m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": complete, "refund.failed": complete}})
	m.Connect(evidence.Source{Name: "zendesk", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"ticket.solved": complete}})
	return m, nil
}

func refundDeclaration(action, order string, at value.Instant) verdict.Declaration {
	number, _ := money.ParseDecimal("180.00") // is a number
	return verdict.Declaration{
		ActionID: action, ContractID: "refund_workflow", ActionType: "refund_order", SubjectID: order, SubjectKind: "order",
		AgentID: "support-bot", RequestedAt: at, ReceivedAt: at.Add(250 * time.Millisecond),
		Params: map[string]value.Value{"amount": value.OfDecimal(number), "currency": value.OfString("usd")},
	}
}

// rollings is what a child reports that asked for rolling totals.
type rollings struct {
	Queries []rolling
	Held    int64 // bytes of all declarations with their indexes
}

type rolling struct {
	Over        string
	N, Counted  int
	Median, P99 time.Duration
}

// limit fills records with the declarations of one agent, a second apart and
// every hundredth an hour late, and asks what they come to.
func limit(out io.Writer, declared int) error {
	before := memory().HeapAlloc
	m, err := refundRecords()
	if err != nil {
		return err
	}
	for i := range declared {
		at := noon.Add(time.Duration(i) * time.Second)
		if i%100 == 0 {
			at = at.Add(-time.Hour)
		}
		m.Declare(refundDeclaration(fmt.Sprint("a-", i), fmt.Sprint("o-", i), at))
	}
	runtime.GC()
	report := rollings{Held: int64(memory().HeapAlloc - before)}
	end := noon.Add(time.Duration(declared) * time.Second)
	governing, err := m.Active("refund_workflow", end)
	if err != nil {
		return err
	}
	k := governing.Contract
	asking := refundDeclaration("asking", "o-1", end)
	for _, over := range []time.Duration{24 * time.Hour, time.Duration(declared+3600) * time.Second} {
		query := docket.HistoryQuery{
			Contract: k, Limit: &k.Limits[1], Group: docket.Group(&k.Limits[1], engine.NewClaimant(k, &asking)),
			Except: "asking", From: end.Add(-over), To: end, At: end.Add(time.Minute),
		}
		const n = 5_000
		var took sample
		counted := 0
		for range n {
			began := time.Now()
			h, err := m.History(query)
			took = append(took, time.Since(began))
			if err != nil {
				return fmt.Errorf("ask for the rolling total: %w", err)
			}
			counted = h.Count
		}
		report.Queries = append(report.Queries, rolling{Over: over.String(), N: n, Counted: counted, Median: took.median(), P99: took.p99()})
	}
	return json.NewEncoder(out).Encode(report)
}
