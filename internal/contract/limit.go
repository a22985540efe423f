package contract

import (
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/likeness"
)

// limits reads what was allowed. A limit says one of check, total and count.
func (r *reader) limits(f fields) {
	r.each(f, "limits", func(g fields) {
		l := Limit{ID: r.checkID(g), When: g.condition("when", r.declared), Check: g.condition("check", r.declared)}
		var kinds []string
		for _, name := range []string{"check", "total", "count"} {
			if g.get(name) != nil {
				kinds = append(kinds, name)
			}
		}
		switch {
		case len(kinds) == 0:
			r.problem(g.node, g.path, "write `check:` for one declaration, `total:` or `count: true` for several", "the limit limits nothing")
		case len(kinds) > 1:
			r.problem(g.get(kinds[1]), g.at(kinds[1]), "make two limits of it", "a limit has one of check, total and count")
		case kinds[0] == "check":
			for _, name := range []string{"max", "over", "per"} {
				if n := g.get(name); n != nil {
					r.problem(n, g.at(name), "leave it out, or write `total:` or `count: true`", "%s is for limits over several declarations", name)
				}
			}
		default:
			l.Rolling = r.rolling(g, kinds[0])
		}
		r.contract.Limits = append(r.contract.Limits, l)
	})
}

func (r *reader) rolling(g fields, kind string) *Rolling {
	w := &Rolling{Over: g.duration("over", time.Second, 0), Per: r.per(g)}
	for _, name := range []string{"max", "over"} {
		if g.get(name) == nil {
			r.problem(g.node, g.at(name), "write `max: \"2000.00 USD\"` or `max: 3`, and `over: 24h`", "%s is missing", name)
		}
	}
	limit := g.get("max")
	if kind == "count" {
		if !g.flag("count", true) {
			r.problem(g.get("count"), g.at("count"), "write `count: true`, or leave the limit out", "count: false counts nothing")
		}
		if limit != nil && limit.kind == text {
			r.problem(limit, g.at("max"), "write a number, or `total:` for amounts", "%s is no number of declarations", clip(limit.text))
		} else if limit != nil {
			w.MaxCount = r.whole(limit, g.at("max"), 1)
		}
		return w
	}
	w.Total = g.expression("total", r.declared)
	r.wantsAmount(g, "total", w.Total)
	if limit != nil {
		w.MaxTotal = r.money(limit, g.at("max"))
		if w.MaxTotal.Value.IsNegative() {
			r.problem(limit, g.at("max"), "", "a limit is not negative")
		}
	}
	return w
}

// per reads what divides the declarations.
func (r *reader) per(g fields) string {
	n := g.get("per")
	if n == nil {
		return ""
	}
	s, ok := r.plain(n, g.at("per"))
	if !ok {
		return ""
	}
	groups := []string{"agent_id", "subject_id", "workflow_id"}
	if slices.Contains(groups, s) {
		return s
	}
	name, isParam := strings.CutPrefix(s, "params.")
	if p := r.contract.param(name); isParam && p != nil {
		if p.Type == MoneyParam || p.Type == ListParam || p.Type == TimestampParam {
			r.problem(n, g.at("per"), "divide by a text, a number, a currency or a boolean", "a parameter of type %s makes no groups", p.Type)
		}
		return s
	}
	for _, p := range r.contract.Params {
		groups = append(groups, "params."+p.Name)
	}
	hint := "write agent_id, subject_id, workflow_id or params.NAME"
	if near := likeness.Closest(s, groups); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.problem(n, g.at("per"), hint, "declarations cannot be divided by %q", clip(s))
	return ""
}
