package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

func (r *reader) steps(f fields) {
	n := f.get("steps")
	if n != nil && n.kind == sequence && len(n.items) == 0 {
		r.problem(n, "steps", "say what must be seen: `- {id: …, expect: …}`", "without a step nothing shows that it happened")
	}
	var befores []*node // the values of `after`, by step
	r.each(f, "steps", func(g fields) {
		s := Step{Observation: r.observation(g), Window: r.window(g), After: g.id("after"), Count: r.count(g)}
		s.Sum = r.sum(g)
		s.Quorum = r.quorum(g, s.Observation)
		r.currencyCompared(g, s.Where)
		r.contract.Steps = append(r.contract.Steps, s)
		befores = append(befores, g.get("after"))
		if after := g.get("after"); after != nil && s.After != "" {
			r.later = append(r.later, func() { r.knownStep(after, g.at("after")) })
		}
	})
	r.later = append(r.later, func() { r.noCircle(befores) })
}

// noCircle refuses steps that wait for each other. Each step waits for at most
// one, so following that way from a step either ends or comes round.
func (r *reader) noCircle(befores []*node) {
	steps := r.contract.Steps
	index := make(map[string]int, len(steps))
	for i, s := range steps {
		index[s.ID] = i
	}
	state := make([]byte, len(steps)) // 1 on the way, 2 done
	for start := range steps {
		var way []int
		for i := start; state[i] == 0; {
			state[i] = 1
			way = append(way, i)
			next, ok := index[steps[i].After]
			if steps[i].After == "" || !ok {
				break
			}
			if state[next] == 1 {
				circle := way[slices.Index(way, next):]
				names := make([]string, 0, len(circle)+1)
				for _, j := range append(circle, next) {
					names = append(names, steps[j].ID)
				}
				r.problem(befores[i], fmt.Sprintf("steps[%d].after", i), "let one of them come first", "the steps wait for each other: %s", strings.Join(names, " after "))
			}
			i = next
		}
		for _, i := range way {
			state[i] = 2
		}
	}
}

// count reads an exact number or bounds; left out, one effect is enough.
func (r *reader) count(g fields) Count {
	n := g.get("count")
	if n == nil {
		return Count{Min: 1}
	}
	if n.kind == number && n.text == "0" {
		r.problem(n, g.at("count"), "what must not be seen stands under `never`", "a step wants at least one effect")
		return Count{Min: 1}
	}
	if n.kind != mapping {
		exactly := r.whole(n, g.at("count"), 1)
		return Count{Min: max(exactly, 1), Max: exactly}
	}
	h, _ := r.mapping(n, "steps.count", g.at("count"))
	c := Count{Min: max(h.integer("min", 1), 1), Max: h.integer("max", 1)}
	if c.Max > 0 && c.Max < c.Min {
		r.problem(h.get("max"), h.at("max"), "exchange them", "max is less than min")
	}
	if len(n.entries) == 0 {
		r.problem(n, g.at("count"), "write `count: 1` or `count: {min: 1, max: 3}`", "count has no bound")
	}
	return c
}

// sum reads what effects must add up to.
func (r *reader) sum(g fields) *Sum {
	n := g.get("sum")
	if n == nil {
		return nil
	}
	h, ok := r.mapping(n, "steps.sum", g.at("sum"))
	if !ok {
		return nil
	}
	s := &Sum{Of: h.expression("of", r.seen)}
	s.Min, s.Max = h.expression("min", r.declared), h.expression("max", r.declared)
	if e := h.expression("exactly", r.declared); e != nil {
		if s.Min != nil || s.Max != nil {
			r.problem(h.get("exactly"), h.at("exactly"), "keep exactly, or min and max", "exactly leaves nothing to min and max")
		}
		s.Min, s.Max, s.Exactly = e, e, true
	}
	if h.get("exactly") == nil && h.get("min") == nil && h.get("max") == nil {
		r.problem(n, h.path, "write `exactly: params.amount`, `min:` or `max:`", "the sum has no bound")
	}
	for _, name := range []string{"of", "exactly", "min", "max"} {
		e := map[string]*condition.Expr{"of": s.Of, "exactly": s.Min, "min": s.Min, "max": s.Max}[name]
		if h.get(name) == nil || e == nil {
			continue
		}
		if k := e.Kind(); k != value.Missing && k != value.Money && k != value.Decimal {
			r.problem(h.get(name), h.at(name), "write an amount or a number", "%s cannot be added up", condition.Noun(k))
		} else if s.Of != nil && s.Of.Kind() != value.Missing && k != value.Missing && k != s.Of.Kind() {
			r.problem(h.get(name), h.at(name), "compare amounts with amounts, and numbers with numbers", "%s cannot bound a sum of what is %s", condition.Noun(k), condition.Noun(s.Of.Kind()))
		}
	}
	if s.Of != nil && !s.Of.Reads(condition.Fact) {
		r.warn(h.get("of"), h.at("of"), "write fact.amount", "what is added up says nothing about the facts")
	}
	return s
}
