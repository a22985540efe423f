package settlement

import (
	"bytes"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Finding is a verdict that was just made, and what it came from.
type Finding struct {
	Ref     store.Ref
	Case    *verdict.Case
	Verdict verdict.Verdict
	// Lacking is the coverage that could make another verdict; see [engine.Await].
	Lacking []verdict.Wait
	// Was is what is kept of the action; nil for a new one.
	Was *docket.Stored
}

// Find evaluates a case. Errors: those of [engine.Await].
func Find(ref store.Ref, c *verdict.Case, was *docket.Stored) (*Finding, error) {
	v, lacking, err := engine.Await(c)
	if err != nil {
		return nil, err
	}
	return &Finding{Ref: ref, Case: c, Verdict: v, Lacking: lacking, Was: was}, nil
}

// Changed says whether the verdict says anything that the kept one does not. When it
// was made, by which case, and how far sources are is not a part of that.
func (f *Finding) Changed() bool {
	if f.Was == nil {
		return true
	}
	if f.stands() {
		return false
	}
	return !bytes.Equal(content(&f.Verdict), content(&f.Was.Verdict))
}

// stands says that a settled verdict was found again: it stays as it is.
func (f *Finding) stands() bool {
	return f.Case.Previous != nil && f.Verdict.Revision == f.Case.Previous.Revision
}

// seenByOthers says whether what cases of other actions hold of the verdict is
// another than before.
func (f *Finding) seenByOthers() bool {
	if f.stands() {
		return false
	}
	if f.Was == nil {
		return true
	}
	was, is := &f.Was.Verdict, &f.Verdict
	if was.Status != is.Status || was.Outcome.Result != is.Outcome.Result || (was.VerifiedAmount == nil) != (is.VerifiedAmount == nil) {
		return true
	}
	if is.VerifiedAmount == nil {
		return false
	}
	order, same := was.VerifiedAmount.Compare(*is.VerifiedAmount)
	return !same || order != 0
}

// content is a verdict's canonical form without what changes by itself.
func content(v *verdict.Verdict) []byte {
	bare := *v
	bare.EvaluatedAt, bare.Case = 0, ""
	bare.Waits = withoutMarks(v.Waits)
	bare.Checks = make([]verdict.Check, len(v.Checks))
	for i := range v.Checks {
		bare.Checks[i] = v.Checks[i]
		bare.Checks[i].Waits = withoutMarks(v.Checks[i].Waits)
	}
	return bare.AppendJSON(nil)
}

func withoutMarks(waits []verdict.Wait) []verdict.Wait {
	var bare []verdict.Wait
	for _, w := range waits {
		w.Watermark = 0
		bare = append(bare, w)
	}
	return bare
}

// Keep keeps what a finding changes, with its leaf if it settled, and wakes the
// action again where only time is lacking. What it waits for is kept in each case. renew
// also keeps a provisional verdict anew that says the same, since how far its sources
// are stands in it: after coverage has come that it waited for. It says whether the
// verdict says something new.
func Keep(tx store.Tx, f *Finding, renew bool) bool {
	waits, wakes := f.awaited()
	if len(wakes) > 0 {
		tx.Wake(wakes...)
	}
	switch {
	case f.Changed():
		tx.KeepVerdict(f.Ref, &f.Verdict, f.Case, waits)
		if f.Verdict.Revision > 0 {
			tx.AddLeaf(ledger.Verdict(f.Ref, &f.Verdict))
		}
		return true
	case renew:
		// A settled verdict stays as it is.
		tx.KeepVerdict(f.Ref, &f.Verdict, f.Case, waits)
	default:
		// It says the same of other evidence, and other coverage may change it.
		tx.KeepWaits(f.Ref, waits)
	}
	return false
}

// awaited are the watermarks that wake the action, and the times that do: a source
// may say that it is complete up to a time that we have not reached. Of one source and
// type the earliest is enough, for whoever is woken by it waits for the next one.
func (f *Finding) awaited() (waits []verdict.Wait, wakes []store.Wake) {
	type awaited struct{ source, factType string }
	at := map[awaited]int{}
	for _, w := range f.Lacking {
		if w.Watermark >= w.Until {
			if w.Until > f.Case.At {
				wakes = append(wakes, store.Wake{Kind: store.WakeAction, Ref: f.Ref, Due: w.Until})
			}
			continue
		}
		of := awaited{w.Source, w.Type}
		if i, there := at[of]; there {
			waits[i].Until = min(waits[i].Until, w.Until)
			continue
		}
		at[of] = len(waits)
		waits = append(waits, w)
	}
	return waits, wakes
}

// Due is when the action is to be looked at again in any case: when it may settle,
// and where that is over, when it is no longer waited for coverage. Zero: never.
func (f *Finding) Due() value.Instant {
	v := &f.Verdict
	switch {
	case v.Revision > 0:
		return 0
	case f.Case.At < v.SettlesAt || f.Case.Governing == nil:
		return v.SettlesAt
	}
	return v.SettlesAt.Add(f.Case.Governing.Contract.Settle.Grace)
}
