package conformance

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var contractLaws = []law{
	{"a version comes back as it was saved", versionReturns},
	{"versions are listed in order, without text if none is asked for", versionsInOrder},
	{"a version that many add at once is added by one after the other", versionsAtOnce},
	{"each version governs from its activation until the next", eachGoverns},
	{"a contract that was retired governs nothing", retired},
	{"whoever approves a version is named once", approvals},
	{"of activations at once one governs at any time", activatedAtOnce},
}

func versions(t testing.TB, p place, id string, text bool) []store.ContractVersion {
	t.Helper()
	return look(t, p, func(tx store.Tx) ([]store.ContractVersion, error) { return tx.ContractVersions(id, text) })
}

func versionReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds+"# ü\t\u2028\n")
	person, key := version(k, 1), version(k, 2)
	key.Saver, key.Note = "", ""
	p.keep(t, func(tx store.Tx) { tx.AddContractVersion(person); tx.AddContractVersion(key) })
	for n, want := range []*store.ContractVersion{person, key} {
		got := look(t, p, func(tx store.Tx) (*store.ContractVersion, error) { return tx.ContractVersion("refunds", n+1) })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("it is %+v, want %+v", got, want)
		}
	}
	for _, missing := range []struct {
		id string
		n  int
	}{{"refunds", 3}, {"refunds", 0}, {"nobody", 1}} {
		err := p.store.View(background(t), p.id, func(tx store.Tx) error {
			_, err := tx.ContractVersion(missing.id, missing.n)
			return err
		})
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("version %d of %s: %v", missing.n, missing.id, err)
		}
	}
}

func versionsInOrder(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	other := compile(t, strings.Replace(refunds, "contract: refunds", "contract: another", 1))
	p.keep(t, func(tx store.Tx) {
		for n := 11; n >= 1; n-- {
			tx.AddContractVersion(version(k, n))
		}
		tx.AddContractVersion(version(other, 1))
	})
	names := func(all []store.ContractVersion) string {
		var b strings.Builder
		for i := range all {
			fmt.Fprint(&b, all[i].ContractID, all[i].Version, " ")
		}
		return b.String()
	}
	refundsOnly := "refunds1 refunds2 refunds3 refunds4 refunds5 refunds6 refunds7 refunds8 refunds9 refunds10 refunds11 "
	for id, want := range map[string]string{"": "another1 " + refundsOnly, "refunds": refundsOnly, "nobody": ""} {
		for _, text := range []bool{true, false} {
			got := versions(t, p, id, text)
			if names(got) != want {
				t.Errorf("of %q there are %s, want %s", id, names(got), want)
			}
			for i := range got {
				if (got[i].Text != "") != text || got[i].Digest == "" {
					t.Errorf("with text %v it is %+v", text, got[i])
				}
			}
		}
	}
}

func versionsAtOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	const units = 10
	together(t, units, func(int) error {
		return p.try(t, func(tx store.Tx) error {
			known, err := tx.ContractVersions(k.ID, false)
			if err != nil {
				return err
			}
			tx.AddContractVersion(version(k, len(known)+1))
			return nil
		})
	})
	got := versions(t, p, k.ID, false)
	for i := range got {
		if got[i].Version != i+1 {
			t.Errorf("the %d. is version %d", i+1, got[i].Version)
		}
	}
	if len(got) != units {
		t.Errorf("there are %d, want %d", len(got), units)
	}
}

// activate makes a version govern from a time on.
func activate(t testing.TB, p place, v *store.ContractVersion, mode verdict.Mode, from value.Instant) {
	t.Helper()
	active := *v
	active.Mode, active.From, active.ActivatedBy = mode, from, actor
	p.keep(t, func(tx store.Tx) { tx.ActivateContract(&active) })
}

func activeAt(t testing.TB, p place, when value.Instant, ids ...string) map[string]*store.ContractVersion {
	t.Helper()
	return look(t, p, func(tx store.Tx) (map[string]*store.ContractVersion, error) { return tx.ActiveContracts(ids, when) })
}

func eachGoverns(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	p.keep(t, func(tx store.Tx) {
		for n := 1; n <= 3; n++ {
			tx.AddContractVersion(version(k, n))
		}
	})
	activate(t, p, version(k, 1), verdict.Live, at(time.Hour))
	activate(t, p, version(k, 3), verdict.Shadow, at(2*time.Hour))
	for _, test := range []struct {
		after time.Duration
		want  int
		mode  verdict.Mode
	}{
		{0, 0, ""},
		{time.Hour - time.Microsecond, 0, ""},
		{time.Hour, 1, verdict.Live},
		{2*time.Hour - time.Microsecond, 1, verdict.Live},
		{2 * time.Hour, 3, verdict.Shadow},
		{100 * day, 3, verdict.Shadow},
	} {
		got := activeAt(t, p, at(test.after), "refunds", "nobody")
		v := got["refunds"]
		switch {
		case test.want == 0 && len(got) > 0:
			t.Errorf("after %s govern %+v", test.after, got)
		case test.want > 0 && (v == nil || len(got) != 1 || v.Version != test.want || v.Mode != test.mode || v.Text != k.Text || v.ActivatedBy != actor):
			t.Errorf("after %s governs %+v, want version %d", test.after, v, test.want)
		}
	}
	all := versions(t, p, "refunds", false)
	if all[0].From != at(time.Hour) || all[0].Until != at(2*time.Hour) || all[1].From != 0 || all[2].From != at(2*time.Hour) || all[2].Until != 0 {
		t.Errorf("they say they govern %+v", all)
	}
	if all[0].Mode != verdict.Live || all[1].Mode != "" || all[2].Mode != verdict.Shadow {
		t.Errorf("their modes are %+v", all)
	}
}

func retired(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	p.keep(t, func(tx store.Tx) { tx.AddContractVersion(version(k, 1)); tx.AddContractVersion(version(k, 2)) })
	activate(t, p, version(k, 1), verdict.Live, at(0))
	p.keep(t, func(tx store.Tx) { tx.RetireContract("refunds", at(time.Hour), actor) })
	if got := activeAt(t, p, at(time.Hour), "refunds"); len(got) != 0 {
		t.Errorf("there governs %+v", got)
	}
	if got := activeAt(t, p, at(time.Hour-1), "refunds"); len(got) != 1 {
		t.Error("before it was retired nothing governs")
	}
	activate(t, p, version(k, 2), verdict.Live, at(2*time.Hour))
	if got := activeAt(t, p, at(90*time.Minute), "refunds"); len(got) != 0 {
		t.Errorf("in between governs %+v", got)
	}
	if got := activeAt(t, p, at(3*time.Hour), "refunds"); len(got) != 1 || got["refunds"].Version != 2 {
		t.Errorf("after it governs %+v", got)
	}
	p.keep(t, func(tx store.Tx) { tx.RetireContract("nobody", at(time.Hour), actor) })
}

func approvals(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	p.keep(t, func(tx store.Tx) { tx.AddContractVersion(version(k, 1)); tx.AddContractVersion(version(k, 2)) })
	for _, by := range []access.MemberID{"per_b", "per_a", "per_b"} {
		p.keep(t, func(tx store.Tx) { tx.ApproveContract("refunds", 1, by) })
	}
	all := versions(t, p, "refunds", false)
	got := map[access.MemberID]bool{}
	for _, by := range all[0].Approvers {
		got[by] = true
	}
	if len(all[0].Approvers) != 2 || !got["per_a"] || !got["per_b"] || len(all[1].Approvers) != 0 {
		t.Errorf("approved by %v and %v", all[0].Approvers, all[1].Approvers)
	}
}

func activatedAtOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := compile(t, refunds)
	const units = 8
	p.keep(t, func(tx store.Tx) {
		for n := 1; n <= units; n++ {
			tx.AddContractVersion(version(k, n))
		}
	})
	together(t, units, func(i int) error {
		return p.try(t, func(tx store.Tx) error {
			v := version(k, i+1)
			v.Mode, v.From, v.ActivatedBy = verdict.Live, tx.Now(), actor
			tx.ActivateContract(v)
			return nil
		})
	})
	all := versions(t, p, "refunds", false)
	open := 0
	for i := range all {
		a := &all[i]
		if a.From == 0 {
			t.Errorf("version %d was never activated", a.Version)
		}
		if a.Until == 0 {
			open++
		}
		for j := range all[:i] {
			b := &all[j]
			if (a.Until == 0 || b.From < a.Until) && (b.Until == 0 || a.From < b.Until) {
				t.Errorf("versions %d and %d govern at the same time", a.Version, b.Version)
			}
		}
	}
	if open != 1 {
		t.Errorf("%d are still active", open)
	}
}
