package engine

import (
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Claimant is an action under a contract, as far as facts can belong to it. It
// is for whoever gathers a case, so that what is gathered and what is evaluated
// follow the same rules.
type Claimant struct{ p *party }

// NewClaimant gives the action of a first declaration its typed parameters.
func NewClaimant(k *contract.Contract, d *verdict.Declaration) Claimant {
	p, _ := newParty(k, d)
	return Claimant{p: p}
}

// Declared is the declaration.
func (c Claimant) Declared() *verdict.Declaration { return c.p.declared }

// Start is where the action's windows begin, Settles where they end.
func (c Claimant) Start() value.Instant   { return c.p.start }
func (c Claimant) Settles() value.Instant { return c.p.settles }

// Key is what the action's side of a keyed rule comes to, or empty.
func (c Claimant) Key(rule contract.Link) string { return c.p.key(rule) }

// Link finds the strongest rule by which a fact belongs to the action.
func (c Claimant) Link(f *evidence.Fact, rules []contract.Link) (contract.Link, bool) {
	rank := c.p.rank(f, rules)
	if rank == unlinked {
		return contract.Link{}, false
	}
	return rules[rank], true
}

// Reaches says whether a fact that belongs to the action lies where it may
// count: from back before the start to the time to settle, or until within the
// start if within is not zero. Both ends are cut to the source's unit.
func (c Claimant) Reaches(f *evidence.Fact, unit, back, within time.Duration) bool {
	end := c.p.settles
	if within > 0 {
		end = min(end, c.p.start.Add(within))
	}
	at := f.OccurredAt.Cut(unit)
	return at >= c.p.start.Add(-back).Cut(unit) && at <= end.Cut(unit)
}

// Reading lets an expression read the declaration and a fact, which may be nil.
func (c Claimant) Reading(f *evidence.Fact) condition.Names { return &scene{party: c.p, fact: f} }
