package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// contracts compares the versions and when they governed.
func (v *verification) contracts(ctx context.Context) error {
	return v.view(ctx, func(tx store.Tx) error {
		waiting, err := tx.Unsequenced(maxUnnumbered)
		if err != nil {
			return err
		}
		v.report.Unnumbered = int64(len(waiting))
		versions, err := tx.ContractVersions("", true)
		if err != nil {
			return err
		}
		for i := range versions {
			c := &versions[i]
			where := fmt.Sprintf("%s@%d", c.ContractID, c.Version)
			if digest([]byte(c.Text)) != c.Digest {
				v.report.say(where, "its text is not that of its digest")
			}
			if c.From == 0 {
				continue
			}
			there, err := v.has(tx, Activation(c))
			if err != nil {
				return err
			}
			if !there {
				v.report.say(where, "no leaf says that it governs from %s in the mode %s", c.From, c.Mode)
				continue
			}
			v.report.Activations++
			// One that another version followed ended by that one's activation.
			followed := slices.ContainsFunc(versions, func(o store.ContractVersion) bool { return o.ContractID == c.ContractID && o.From == c.Until })
			if c.Until == 0 || followed {
				continue
			}
			if there, err = v.has(tx, Retirement(c)); err != nil {
				return err
			}
			if !there {
				v.report.say(where, "no leaf says that it ended at %s", c.Until)
			}
		}
		return nil
	})
}

// actions compares the declarations and the settled verdicts of all actions.
func (v *verification) actions(ctx context.Context) error {
	for after := store.Cursor(""); ; {
		next := store.Cursor("")
		err := v.view(ctx, func(tx store.Tx) error {
			listed, cursor, err := tx.ListActions(store.Filter{}, store.Page{After: after, Limit: pageOfActions})
			if err != nil {
				return err
			}
			next = cursor
			for i := range listed {
				if err := v.declarations(tx, listed[i].Action.Ref); err != nil {
					return err
				}
				if err := v.verdicts(tx, listed[i].Action.Ref); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

func (v *verification) declarations(tx store.Tx, ref store.Ref) error {
	declared, err := tx.Declarations(ref)
	if err != nil {
		return err
	}
	for i := range declared {
		d := &declared[i]
		if len(d.Body) == 0 {
			v.report.Erased++
			v.erased[revision(ref, d.Revision)] = true
			continue
		}
		there, err := v.has(tx, Declaration(d))
		if err != nil {
			return err
		}
		if !there {
			v.report.say(revision(ref, d.Revision), "no leaf speaks of its declaration as it is")
			continue
		}
		v.report.Declarations++
	}
	return nil
}

func (v *verification) verdicts(tx store.Tx, ref store.Ref) error {
	settled, err := tx.Settled(ref)
	if err != nil {
		return err
	}
	for i := range settled {
		kept := &settled[i]
		where := revision(ref, kept.Verdict.Revision)
		there, err := v.has(tx, Verdict(ref, &kept.Verdict))
		if err != nil {
			return err
		}
		if !there {
			v.report.say(where, "no leaf speaks of its verdict as it is")
			continue
		}
		switch problem, err := again(kept); {
		case errors.Is(err, verdict.ErrEngineUnknown):
			v.report.OtherEngine++
		case problem != "":
			v.report.say(where, "%s", problem)
		default:
			v.report.Verdicts++
		}
	}
	return nil
}

// again evaluates a settled verdict's case and says what differs.
func again(kept *store.Settled) (problem string, err error) {
	c, err := verdict.DecodeCase(kept.Case)
	if err != nil {
		return "its case cannot be read: " + err.Error(), err
	}
	if c.Digest() != kept.Verdict.Case {
		return "its case is not the one that it names", nil
	}
	made, err := engine.Evaluate(c)
	if err != nil {
		return "its case cannot be evaluated: " + err.Error(), err
	}
	if made.Digest() != kept.Verdict.Digest() {
		return fmt.Sprintf("its case comes to %s, and the verdict says %s", words(&made), words(&kept.Verdict)), nil
	}
	return "", nil
}

func words(v *verdict.Verdict) string {
	return fmt.Sprintf("%s (outcome %s, conformance %s)", v.Badge, v.Outcome.Result, v.Conformance.Result)
}

// audit chains the rows again, from the newest head to the oldest, which is the
// order in which the trail gives them.
func (v *verification) audit(ctx context.Context) error {
	chain := &chaining{report: v.report, heads: v.heads}
	for after := store.Cursor(""); ; {
		next := store.Cursor("")
		err := v.view(ctx, func(tx store.Tx) error {
			rows, cursor, err := tx.ListAudit(store.Page{After: after, Limit: auditPage})
			if err != nil {
				return err
			}
			next = cursor
			for i := range rows {
				chain.row(&rows[i])
			}
			return nil
		})
		if err != nil {
			return err
		}
		if next == "" {
			chain.end()
			return nil
		}
		after = next
	}
}

// chaining goes back over the heads of an audit.
type chaining struct {
	report  *Report
	heads   []store.Leaf // those that are not done; the newest last
	segment *audit.Segment
	span    span
	covered bool // a row that a head covers was there
}

func (c *chaining) row(row *store.AuditEntry) {
	for c.segment == nil || row.ID < c.span.first {
		if !c.next() {
			break
		}
	}
	switch {
	case c.segment != nil && row.ID <= c.span.last:
		c.covered = true
		c.segment.Add(row)
	case c.covered:
		// Rows newer than the newest head wait for one. An older one that none
		// covers was put there later.
		c.report.say("the audit", "no head covers the row %d, which is older than others that one covers", row.ID)
	default:
		c.report.Uncovered++
	}
}

// next closes the segment and opens the one before it, and says whether there is one.
func (c *chaining) next() bool {
	c.close()
	if len(c.heads) == 0 {
		return false
	}
	h := c.heads[len(c.heads)-1]
	s, err := parseSpan(h.Object)
	if err != nil {
		c.report.say(fmt.Sprintf("leaf %d", h.Number), "%s", err)
	}
	c.span, c.segment = s, audit.NewSegment()
	return true
}

// close compares the segment that is open with its head.
func (c *chaining) close() {
	if c.segment == nil {
		return
	}
	h := c.heads[len(c.heads)-1]
	c.heads = c.heads[:len(c.heads)-1]
	before := ""
	if len(c.heads) > 0 {
		before = c.heads[len(c.heads)-1].Digest
	}
	if c.segment.Rows() != c.span.rows {
		c.report.say("the audit", "of the rows %d to %d, which leaf %d covers, there are %d of %d", c.span.first, c.span.last, h.Number, c.segment.Rows(), c.span.rows)
	} else if c.segment.Digest(before) != h.Digest {
		c.report.say("the audit", "a row of %d to %d was changed after leaf %d covered it", c.span.first, c.span.last, h.Number)
	}
	c.report.AuditRows += c.segment.Rows()
	c.segment = nil
}

func (c *chaining) end() {
	for len(c.heads) > 0 {
		if c.segment == nil && !c.next() {
			return
		}
		c.close()
	}
}
