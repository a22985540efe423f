package conformance

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store"
)

var trailLaws = []law{
	{"audit entries come back as they were written, the latest first", auditReturns},
	{"the audit is gone through once while more is written", auditOnce},
	{"declarations are counted by period, whoever counts at the same time", counted},
	{"a count has in it what its own unit adds", countsItsOwn},
	{"counts stay right when a ledger is numbered between them", countsStay},
}

func audit(t testing.TB, p place, limit int, between func()) []store.AuditEntry {
	t.Helper()
	return through(t, p, limit, func(tx store.Tx, page store.Page) ([]store.AuditEntry, store.Cursor, error) {
		return tx.ListAudit(page)
	}, between)
}

func entryOf(n int) store.AuditEntry {
	return store.AuditEntry{
		At: at(time.Duration(n) * time.Second), Actor: "ada@example.com via https://client.example/id", Event: "mcp.tool_called",
		Object: fmt.Sprint("list_actions ", n), Metadata: fmt.Appendf(nil, `{"n": %d, "ü":"\u2028"}`, n),
	}
}

func auditReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	const n = 25
	p.keep(t, func(tx store.Tx) { tx.Audit(entryOf(0), entryOf(1)); tx.Audit(entryOf(2)) })
	for i := 3; i < n; i++ {
		p.keep(t, func(tx store.Tx) { tx.Audit(entryOf(i)) })
	}
	p.keep(t, func(tx store.Tx) { tx.Audit() })
	got := audit(t, p, 7, nil)
	if len(got) != n {
		t.Fatalf("there are %d, want %d", len(got), n)
	}
	for i, e := range got {
		want := entryOf(n - 1 - i)
		if i > 0 && e.ID >= got[i-1].ID {
			t.Errorf("after %d comes %d", got[i-1].ID, e.ID)
		}
		if e.At != want.At || e.Actor != want.Actor || e.Event != want.Event || e.Object != want.Object || !bytes.Equal(e.Metadata, want.Metadata) {
			t.Errorf("it is %+v, want %+v", e, want)
		}
	}
}

func auditOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	const before = 20
	for i := range before {
		p.keep(t, func(tx store.Tx) { tx.Audit(entryOf(i)) })
	}
	more := before
	times := map[string]int{}
	for _, e := range audit(t, p, 3, func() {
		p.keep(t, func(tx store.Tx) { tx.Audit(entryOf(more)) })
		more++
	}) {
		times[e.Object]++
	}
	for i := range before {
		if n := times[entryOf(i).Object]; n != 1 {
			t.Errorf("the %d. came %d times", i, n)
		}
	}
}

func declaredIn(t testing.TB, p place, period string) int64 {
	t.Helper()
	return look(t, p, func(tx store.Tx) (int64, error) { return tx.DeclaredIn(period) })
}

func counted(t *testing.T, s *suite) {
	p := s.workspace(t)
	const units, rounds = 8, 10
	together(t, units, func(i int) error {
		for range rounds {
			if err := p.try(t, func(tx store.Tx) error {
				tx.CountDeclared("2026-11", i)
				tx.CountDeclared("2026-12", 1)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	for period, want := range map[string]int64{"2026-11": rounds * units * (units - 1) / 2, "2026-12": units * rounds, "2027-01": 0} {
		if got := declaredIn(t, p, period); got != want {
			t.Errorf("in %s there are %d, want %d", period, got, want)
		}
	}
}

func countsItsOwn(t *testing.T, s *suite) {
	p := s.workspace(t)
	for n := int64(1); n <= 3; n++ {
		p.do(t, func(tx store.Tx) error {
			tx.CountDeclared("2026-11", 2)
			tx.CountDeclared("2026-12", 100)
			tx.CountDeclared("2026-11", 3)
			got, err := tx.DeclaredIn("2026-11")
			if got != 5*n {
				t.Errorf("it says %d, want %d", got, 5*n)
			}
			return err
		})
	}
}

func countsStay(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := &furnished{place: p}
	const rounds = 40
	for n := 1; n <= rounds; n++ {
		p.keep(t, func(tx store.Tx) {
			for range 10 { // so that there are many to be put together
				tx.CountDeclared("2026-11", 1)
				tx.CountDeclared("2026-12", 2)
			}
			tx.AddLeaf(leaf(n))
		})
		if n%8 == 0 {
			f.sequence(t, 100)
		}
		if got := declaredIn(t, p, "2026-11"); got != 10*int64(n) {
			t.Fatalf("after %d it says %d", n, got)
		}
	}
	if got := declaredIn(t, p, "2026-12"); got != 20*rounds {
		t.Errorf("it says %d, want %d", got, 20*rounds)
	}
}
