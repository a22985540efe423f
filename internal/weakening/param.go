package weakening

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
)

func (c *comparison) params() {
	for i := range c.before.Params {
		old := &c.before.Params[i]
		if now := param(c.after, old.Name); now != nil {
			c.param(old, now)
			continue
		}
		where := "params." + old.Name
		switch {
		case old.Required:
			c.add(Weaker, ParamRemoved, where, string(old.Type), "", "%s need no longer be declared", old.Name)
		default:
			c.add(Different, ParamRemoved, where, string(old.Type), "", "%s is no longer read", old.Name)
		}
	}
	for i := range c.after.Params {
		now := &c.after.Params[i]
		if param(c.before, now.Name) != nil {
			continue
		}
		where := "params." + now.Name
		if now.Required {
			c.add(Stronger, ParamAdded, where, "", string(now.Type), "%s must be declared", now.Name)
		} else {
			c.add(Different, ParamAdded, where, "", string(now.Type), "%s may be declared", now.Name)
		}
	}
}

func param(k *contract.Contract, name string) *contract.Param {
	for i := range k.Params {
		if k.Params[i].Name == name {
			return &k.Params[i]
		}
	}
	return nil
}

func (c *comparison) param(old, now *contract.Param) {
	where := "params." + old.Name
	switch {
	case old.Required && !now.Required:
		c.add(Weaker, ParamOptional, where+".required", "true", "false", "%s need no longer be declared", old.Name)
	case !old.Required && now.Required:
		c.add(Stronger, ParamRequired, where+".required", "false", "true", "%s must be declared", old.Name)
	}
	c.paramDefault(old, now, where+".default")
	c.paramType(old, now, where)
	if was, is := currency(old), currency(now); was != is {
		c.unsure(CurrencyChanged, where+".currency", was, is, old.Name+" is in another currency where it names none", "")
	}
	switch {
	case !old.Minor && now.Minor:
		c.add(Weaker, UnitChanged, where+".unit", "major", "minor", "a number that is declared as %s is now a smaller amount, as cents instead of dollars", old.Name)
	case old.Minor && !now.Minor:
		c.unsure(UnitChanged, where+".unit", "minor", "major", "a number that is declared as "+old.Name+" is now a larger amount, as dollars instead of cents", "")
	}
}

func currency(p *contract.Param) string {
	if p.Currency != "" {
		return p.Currency
	}
	return string(p.Fixed)
}

func (c *comparison) paramDefault(old, now *contract.Param, where string) {
	was, is := old.Default, now.Default
	switch {
	case was.IsMissing() && is.IsMissing(), value.Same(was, is):
	case was.IsMissing():
		c.add(Weaker, DefaultAdded, where, "", text(is), "a declaration without %s is read as if it said %s", old.Name, text(is))
	case is.IsMissing():
		c.shown(c.mayBeMissing(old.Name), DefaultRemoved, where, text(was), "", "a declaration without "+old.Name+" leaves it unknown", missingMatters)
	default:
		c.unsure(DefaultChanged, where, text(was), text(is), "a declaration without "+old.Name+" means something else", "")
	}
}

const missingMatters = "where it is missing, a fact may belong to an action by a weaker rule, or declarations may fall into another group"

// mayBeMissing says that a parameter which is missing more often can only leave
// more unknown: nothing is tied to an action or put into a group by it.
func (c *comparison) mayBeMissing(name string) bool {
	return c.both(func(k *contract.Contract) bool {
		return owned(k.Link) &&
			!slices.ContainsFunc(k.Approvals, func(a contract.Approval) bool { return !owned(a.Link) }) &&
			!slices.ContainsFunc(k.Limits, func(l contract.Limit) bool { return l.Rolling != nil && l.Rolling.Per == "params."+name })
	})
}

func text(v value.Value) string {
	b, err := v.AppendJSON(nil)
	if err != nil {
		return v.Text()
	}
	return string(b)
}

func (c *comparison) paramType(old, now *contract.Param, where string) {
	was, is := string(old.Type), string(now.Type)
	if old.Type == contract.EnumParam && now.Type == contract.EnumParam {
		where, was, is = where+".values", strings.Join(old.Values, ", "), strings.Join(now.Values, ", ")
	}
	switch {
	case old.Type == now.Type && within(old.Values, now.Values) && within(now.Values, old.Values):
	case looser(now, old):
		c.add(Weaker, TypeLooser, where, was, is, "%s may be more than before", old.Name)
	case looser(old, now):
		c.shown(c.mayBeMissing(old.Name), TypeTighter, where, was, is, old.Name+" may be less than before", missingMatters)
	default:
		c.unsure(TypeChanged, where, was, is, old.Name+" may be something else than before", "")
	}
}

// looser says that a takes whatever b takes, and reads it alike.
func looser(a, b *contract.Param) bool {
	switch {
	case a.Type == contract.EnumParam && b.Type == contract.EnumParam:
		return within(b.Values, a.Values)
	case a.Type == contract.StringParam && b.Type == contract.EnumParam, a.Type == contract.DecimalParam && b.Type == contract.IntegerParam:
		return true
	}
	return false
}

func within(some, others []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(others, s) })
}
