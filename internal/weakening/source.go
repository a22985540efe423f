package weakening

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func trust(k *contract.Contract, source string) (evidence.Trust, bool) {
	for _, s := range k.Sources {
		if s.Name == source {
			return s.Trust, true
		}
	}
	return evidence.NoTrust, false
}

func (c *comparison) sources() {
	for _, s := range c.before.Sources {
		where := "sources." + s.Name
		now, there := trust(c.after, s.Name)
		switch {
		case !there:
			c.add(Different, SourceRemoved, where, s.Trust.String(), "", "%s is no longer declared; checks that lose it are listed", s.Name)
		case now < s.Trust:
			c.add(Weaker, TrustLower, where+".trust", s.Trust.String(), now.String(), "%s need only be %s to show something", s.Name, now)
		case now > s.Trust:
			c.shown(c.trustIsAll(s.Name), TrustHigher, where+".trust", s.Trust.String(), now.String(), fmt.Sprintf("%s must be %s to show something", s.Name, now), weakIsUnseen)
		}
	}
	for _, s := range c.after.Sources {
		if _, there := trust(c.before, s.Name); !there {
			c.add(Different, SourceAdded, "sources."+s.Name, "", s.Trust.String(), "%s is declared; checks that use it are listed", s.Name)
		}
	}
}

const weakIsUnseen = "what a source that is now too weak tells no longer counts against the action either"

// trustIsAll says that every step and approval that uses a source has no other,
// so that none of them can pass where that source is too weak. What must be
// absent, and how something stands, needs all of its sources anyway.
func (c *comparison) trustIsAll(source string) bool {
	return c.both(func(k *contract.Contract) bool {
		for i := range k.Steps {
			if !alone(k.Steps[i].From, source) {
				return false
			}
		}
		for i := range k.Approvals {
			if !alone(k.Approvals[i].From, source) {
				return false
			}
		}
		return true
	})
}

func alone(from []string, source string) bool {
	return len(from) == 1 || !slices.Contains(from, source)
}

func rulesOf(links []contract.Link) string {
	all := make([]string, len(links))
	for i, l := range links {
		all[i] = l.String()
	}
	return strings.Join(all, ", ")
}

// links compares how facts belong to an action.
func (c *comparison) links() {
	old, now := c.before.Link, c.after.Link
	if slices.Equal(old, now) {
		return
	}
	was, is := rulesOf(old), rulesOf(now)
	for i, l := range old {
		switch {
		case slices.Contains(now, l):
		case l.Keyed():
			c.add(Weaker, LinkDropped, "link", was, is, "%s no longer ties facts to the action, nor keeps those of others away", l.String())
		default:
			// With the subject as its last rule gone, what is left must be the
			// action's own.
			holds := len(now) == i && slices.Equal(old[:i], now) && owned(now) &&
				c.both(func(k *contract.Contract) bool {
					return !slices.ContainsFunc(k.Never, func(n contract.Never) bool { return !n.Anyone })
				})
			c.shown(holds, LinkDropped, "link", was, is, "facts no longer belong to the action by its subject alone", "what must not be seen, and what another action could claim, is no longer seen either")
		}
	}
	for i, l := range now {
		switch {
		case slices.Contains(old, l):
		case i == len(now)-1 || !l.Keyed():
			c.add(Weaker, LinkAdded, "link", was, is, "facts may now also belong to the action by %s", l.String())
		default:
			c.unsure(LinkAdded, "link", was, is, "facts may now also belong to the action by "+l.String(), "and those with another value no longer count against it")
		}
	}
	c.order(old, now, "link")
}

// order compares the order of the rules that both have.
func (c *comparison) order(old, now []contract.Link, where string) {
	shared := func(links, others []contract.Link) []contract.Link {
		return slices.DeleteFunc(slices.Clone(links), func(l contract.Link) bool { return !slices.Contains(others, l) })
	}
	was, is := shared(old, now), shared(now, old)
	if slices.Equal(was, is) {
		return
	}
	i := 0
	for was[i] == is[i] {
		i++
	}
	if was[i].By == contract.ByActionID && is[i].By != contract.ByActionID {
		c.add(Weaker, LinkReordered, where, rulesOf(old), rulesOf(now), "%s, which is not the action's own id, now comes before %s", is[i].String(), was[i].String())
		return
	}
	c.unsure(LinkReordered, where, rulesOf(old), rulesOf(now), "the rules have another order", "another rule may be the strongest that a fact satisfies")
}
