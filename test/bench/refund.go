package main

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// refunds numbers the refunds that are declared, so that each is another one.
type refunds struct{ next atomic.Int64 }

// agents is how many agents declare. Each has a rolling limit of its own.
const agents = 100

// declaration is the body by which an agent declares a refund.
func (r *refunds) declaration(b []byte) ([]byte, int64) {
	n := r.next.Add(1)
	return appendDeclaration(b, n, time.Now()), n
}

// cents is what refund n comes to: so little that no agent reaches its limit of a day.
func cents(n int64) int64 { return 10 + n%40 }

func appendDeclaration(b []byte, n int64, at time.Time) []byte {
	return fmt.Appendf(b, `{"action_id":"refund-o-%d","contract_id":"refund_workflow","action_type":"refund_order",`+
		`"subject_id":"o-%d","subject_kind":"order","agent_id":"support-bot-%d","workflow_id":"refunds","requested_at":"%s",`+
		`"params":{"amount":0.%02d,"currency":"usd","mcp_tool":"refund_payment","mcp_request_id":"%d"},"channel":"mcp"}`,
		n, n, n%agents, at.UTC().Format("2006-01-02T15:04:05.000000Z"), cents(n), n)
}

// batch is the body that declares n refunds at once.
func (r *refunds) batch(b []byte, n int) []byte {
	b = append(b, `{"actions":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = r.declaration(b)
	}
	return append(b, "]}"...)
}

// appendFact writes what stripe tells of a refund. Its kind is succeeded or failed;
// a failed refund decides that the action failed.
func appendFact(b []byte, kind string, n int64, at time.Time) []byte {
	return fmt.Appendf(b, `{"source":"stripe","external_id":"re_%s_%d","type":"refund.%s","subject_id":"o-%d","subject_kind":"order",`+
		`"refs":{"idempotency_key":"refund-o-%d","refund":"re_%d"},"attrs":{"amount":{"amount":"0.%02d","currency":"USD"},"currency":"usd"},`+
		`"occurred_at":"%s"}`,
		kind, n, kind, n, n, n, cents(n), at.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// facts is the body that tells of refunds from first on.
func facts(b []byte, kind string, first int64, n int, at time.Time) []byte {
	b = append(b, `{"facts":[`...)
	for i := range int64(n) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFact(b, kind, first+i, at)
	}
	return append(b, "]}"...)
}

// perSecond prints a rate.
func perSecond(rate float64) string { return strconv.FormatFloat(rate, 'f', 0, 64) }

// ratio prints how many times b is in a.
func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", a/b)
}
