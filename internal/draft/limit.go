package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// limit is a proposed limit.
type limit struct {
	id      string
	when    string
	check   string // of a limit on one declaration
	total   string // of a rolling total
	rolling bool
	max     string
	stats   LimitStatistic
}

// limits drafts what was usual as what is allowed. Where fewer than thirty
// actions show it, it drafts nothing and says so.
func (s *study) limits() {
	from := s.limited()
	if len(from) < enough {
		s.warn("no_limit", "no limit is proposed: %s, and a limit wants %d", counted(len(from), "action shows what is usual", "actions show what is usual"), enough)
		return
	}
	for _, p := range s.params {
		if p.declared.Type == contract.MoneyParam {
			s.capsOf(p, from)
		}
	}
	s.rolling(from)
}

// capsOf drafts the largest single amount, for each currency alone.
func (s *study) capsOf(p *param, from []*action) {
	codes := s.currencies(p, s.actions)
	if len(codes) > 1 {
		s.warn("mixed_currencies", "%s was declared in %s; each has a limit of its own or none", p.name, list(codes))
	}
	for _, code := range codes {
		var amounts []money.Amount
		for _, a := range from {
			if v := a.params[p.name]; v.Kind() == value.Money && v.Amount().Currency == code {
				amounts = append(amounts, v.Amount())
			}
		}
		if len(amounts) < enough {
			s.warn("no_limit", "no limit on %s in %s is proposed: %s it, and a limit wants %d", p.name, code, counted(len(amounts), "action shows", "actions show"), enough)
			continue
		}
		l := limit{id: named(p.name+"_cap", "_-")}
		if len(codes) > 1 {
			if p.declared.Currency == "" {
				s.warn("no_limit", "no limit on %s in %s is proposed: no parameter names the currency, by which the limits could be told apart", p.name, code)
				continue
			}
			l.id = named(p.name+"_cap_"+strings.ToLower(string(code)), "_-")
			l.when = "params." + p.declared.Currency + ` == "` + string(code) + `"`
		}
		l.stats = amountStatistic(amounts)
		l.check = "params." + p.name + ` <= money("` + l.stats.Limit + `")`
		s.keep(l)
	}
}

// keep adds a limit under an id that no other check has.
func (s *study) keep(l limit) {
	taken := func(id string) bool {
		return slices.ContainsFunc(s.caps, func(o limit) bool { return o.id == id }) ||
			slices.ContainsFunc(s.steps, func(st *step) bool { return st.id == id })
	}
	base := l.id
	for n := 2; taken(l.id); n++ {
		l.id = named(base[:min(len(base), 60)]+"_"+strconv.Itoa(n), "_-")
	}
	l.stats.ID = l.id
	s.caps = append(s.caps, l)
	s.stats.Limits = append(s.stats.Limits, l.stats)
}

func amountStatistic(amounts []money.Amount) LimitStatistic {
	slices.SortStableFunc(amounts, func(a, b money.Amount) int {
		return cmp.Or(money.Compare(a.Value, b.Value), strings.Compare(a.String(), b.String()))
	})
	n := len(amounts)
	return LimitStatistic{
		Actions: n, Median: amounts[nearestRank(n, 50)].String(),
		Limit: amounts[nearestRank(n, quantile)].String(), Highest: amounts[n-1].String(),
	}
}

// rolling drafts what one agent does within a day: how many actions, and what
// they add up to.
func (s *study) rolling(from []*action) {
	if s.to.Sub(s.from) < day {
		s.warn("no_limit", "no limit on what an agent does within a day is proposed: all actions started within one")
		return
	}
	var counts []int
	for _, a := range from {
		counts = append(counts, len(s.sameDay(a)))
	}
	slices.Sort(counts)
	n := len(counts)
	stats := LimitStatistic{
		Actions: n, Median: strconv.Itoa(counts[nearestRank(n, 50)]),
		Limit: strconv.Itoa(counts[nearestRank(n, quantile)]), Highest: strconv.Itoa(counts[n-1]),
	}
	s.keep(limit{id: "agent_daily_count", rolling: true, max: stats.Limit, stats: stats})
	for _, p := range s.params {
		if p.declared.Type == contract.MoneyParam {
			s.dailyTotal(p, from)
		}
	}
}

// dailyTotal drafts what the amounts of one agent add up to within a day. Totals
// of two currencies are no total.
func (s *study) dailyTotal(p *param, from []*action) {
	if codes := s.currencies(p, s.actions); len(codes) != 1 {
		if len(codes) > 1 {
			s.warn("no_limit", "no daily total of %s is proposed: amounts in %s do not add up", p.name, list(codes))
		}
		return
	}
	var totals []money.Amount
	for _, a := range from {
		if total, ok := s.totalOfDay(a, p); ok {
			totals = append(totals, total)
		}
	}
	if len(totals) < enough {
		s.warn("no_limit", "no daily total of %s is proposed: %s it, and a limit wants %d", p.name, counted(len(totals), "action shows", "actions show"), enough)
		return
	}
	stats := amountStatistic(totals)
	if strings.HasPrefix(stats.Limit, "-") {
		s.warn("no_limit", "no daily total of %s is proposed: it would be negative", p.name)
		return
	}
	s.keep(limit{id: named("agent_daily_"+p.name, "_-"), rolling: true, total: "params." + p.name, max: `"` + stats.Limit + `"`, stats: stats})
}

// sameDay are the declarations of the action's agent within a day before it and
// at its very moment, itself included.
func (s *study) sameDay(a *action) []*action {
	to := a.first.Start()
	from := to.Add(-day)
	after := func(at value.Instant) int {
		i, _ := slices.BinarySearchFunc(s.actions, at, func(o *action, at value.Instant) int {
			if o.first.Start() <= at {
				return -1
			}
			return 1
		})
		return i
	}
	var same []*action
	for _, o := range s.actions[after(from):after(to)] {
		if o.first.AgentID == a.first.AgentID {
			same = append(same, o)
		}
	}
	return same
}

// totalOfDay has no answer where one of the amounts cannot be read.
func (s *study) totalOfDay(a *action, p *param) (money.Amount, bool) {
	total, known := money.Amount{}, false
	for _, o := range s.sameDay(a) {
		v := o.params[p.name]
		if v.Kind() != value.Money {
			return money.Amount{}, false
		}
		if !known {
			total, known = v.Amount(), true
			continue
		}
		var ok bool
		if total, ok = total.Add(v.Amount()); !ok {
			return money.Amount{}, false
		}
	}
	return total, known
}

func list(codes []money.Currency) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = string(code)
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(texts[:len(texts)-1], ", "), texts[len(texts)-1])
}
