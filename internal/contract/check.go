package contract

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/likeness"
)

// builtIn are the checks that every action has, whatever its contract says.
var builtIn = [...]string{"declared_in_time", "declaration_valid"}

// each calls read with the fields of each check of a kind.
func (r *reader) each(f fields, name string, read func(fields)) {
	for i, n := range r.list(f.get(name), name, false) {
		r.checks++
		if r.checks == maxChecks+1 {
			r.problem(n, name, "split it into several contracts", "the contract has more than %d checks", maxChecks)
		}
		if r.checks > maxChecks {
			return
		}
		if g, ok := r.mapping(n, name, fmt.Sprintf("%s[%d]", name, i)); ok {
			read(g)
		}
	}
}

// checkID reads a check's id, which no other check may have.
func (r *reader) checkID(g fields) string {
	id := g.id("id")
	if id == "" {
		return ""
	}
	n := g.get("id")
	for _, name := range builtIn {
		if id == name {
			r.problem(n, g.at("id"), "choose another", "%s is the id of a check that every action has", id)
		}
	}
	if line, ok := r.ids[id]; ok {
		r.problem(n, g.at("id"), "choose another", "%s is the id of another check, in line %d", id, line)
	} else {
		r.ids[id] = n.line
	}
	return id
}

// observation reads what steps, nevers, states and approvals have in common.
func (r *reader) observation(g fields) Observation {
	o := Observation{
		ID:    r.checkID(g),
		When:  g.condition("when", r.declared),
		Where: g.condition("where", r.seen),
		Trust: g.trust("trust"),
		From:  r.from(g),
	}
	if n := g.get("expect"); n != nil {
		if _, ok := r.plain(n, g.at("expect")); ok {
			if isFactType(n.text) {
				o.Expect = n.text
			} else {
				r.problem(n, g.at("expect"), "write a family and a name joined by a dot, as in refund.succeeded", "%q is no type of facts", clip(n.text))
			}
		}
	}
	if e := o.Where; e != nil && len(e.Refs()) > 0 && !e.Reads(condition.Fact) {
		r.warn(g.get("where"), g.at("where"), "put conditions on the declaration under `when`", "the condition says nothing about the fact")
	}
	return o
}

// from reads the sources of a check; left out it is the contract's only one.
func (r *reader) from(g fields) []string {
	declared := r.contract.Sources
	if g.get("from") == nil {
		switch {
		case len(declared) == 1:
			return []string{declared[0].Name}
		case len(declared) > 1:
			r.problem(g.node, g.at("from"), "write `from: "+declared[0].Name+"`, or a list", "from is missing, and the contract has %d sources", len(declared))
		}
		return nil
	}
	var names []string
	for _, n := range g.texts("from", true) {
		if r.knownSource(n, g.at("from")) {
			names = append(names, n.text)
		}
	}
	if n := g.get("from"); n.kind == sequence && len(n.items) == 0 {
		r.problem(n, g.at("from"), "name a source", "the list is empty, so nothing can be seen")
	}
	return names
}

func (r *reader) knownSource(n *node, path string) bool {
	if r.contract.source(n.text) != nil || len(r.contract.Sources) == 0 {
		return true // that there is no source is a problem of its own
	}
	names := make([]string, len(r.contract.Sources))
	for i, s := range r.contract.Sources {
		names[i] = s.Name
	}
	hint := "declare it under `sources`"
	if near := likeness.Closest(n.text, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(names) > 0 {
		hint += "; there are " + strings.Join(names, ", ")
	}
	r.problem(n, path, hint, "the contract has no source %q", clip(n.text))
	return false
}

func (r *reader) knownStep(n *node, path string) bool {
	if r.contract.step(n.text) != nil || len(r.contract.Steps) == 0 {
		return true
	}
	ids := make([]string, 0, len(r.contract.Steps))
	for _, s := range r.contract.Steps {
		if s.ID != "" {
			ids = append(ids, s.ID)
		}
	}
	hint := "name the id of a step"
	if near := likeness.Closest(n.text, ids); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(ids) > 0 && len(ids) < 12 {
		hint = "there are " + strings.Join(ids, ", ")
	}
	r.problem(n, path, hint, "the contract has no step %q", clip(n.text))
	return false
}

// window reads `within`, which must end before the verdict settles.
func (r *reader) window(g fields) Window {
	w := Window{Within: g.duration("within", time.Second, 0)}
	if after := r.contract.Settle.After; after > 0 && w.Within > after {
		n := g.get("within")
		r.problem(n, g.at("within"), "shorten it, or lengthen `settle.after`", "the window of %s ends after the verdict settles", clip(n.text))
	}
	return w
}

// quorum reads how many sources must confirm.
func (r *reader) quorum(g fields, o Observation) int {
	q := g.integer("quorum", 1)
	if q > len(o.From) && len(o.From) > 0 {
		r.problem(g.get("quorum"), g.at("quorum"), "name more sources under `from`, or ask for fewer", "%d sources cannot confirm where only %d can tell", q, len(o.From))
	}
	return q
}

func (r *reader) nevers(f fields) {
	r.each(f, "never", func(g fields) {
		n := Never{Observation: r.observation(g), Anyone: g.flag("anyone", false)}
		r.contract.Never = append(r.contract.Never, n)
	})
}

func (r *reader) states(f fields) {
	r.each(f, "state", func(g fields) {
		s := State{Observation: r.observation(g), Window: r.window(g)}
		if g.word("at") != "" && g.get("within") != nil {
			r.problem(g.get("within"), g.at("within"), "keep one of them", "at and within both say when")
		}
		r.contract.State = append(r.contract.State, s)
	})
}

func (r *reader) approvals(f fields) {
	r.each(f, "approvals", func(g fields) {
		a := Approval{
			Observation: r.observation(g),
			Link:        r.links(g, Link{Ref: "action_id", By: ByActionID}),
			Lookback:    g.duration("lookback", 0, defaultLookback),
			Before:      g.id("before"),
		}
		a.Quorum = r.quorum(g, a.Observation)
		if n := g.get("before"); n != nil {
			if a.Before != "" {
				r.knownStep(n, g.at("before"))
			}
		} else if steps := r.contract.Steps; len(steps) == 1 {
			a.Before = steps[0].ID
		} else if len(steps) > 1 {
			r.problem(g.node, g.at("before"), "write `before: "+steps[0].ID+"`", "before is missing, and the contract has %d steps", len(steps))
		}
		r.approvalTrust(g, a.Observation)
		r.contract.Approvals = append(r.contract.Approvals, a)
	})
}

// approvalTrust refuses sources that whoever asks for approval could write.
func (r *reader) approvalTrust(g fields, o Observation) {
	if o.Trust >= evidence.Attested {
		return
	}
	for _, name := range o.From {
		if s := r.contract.source(name); s != nil && s.Trust != evidence.NoTrust && s.Trust < evidence.Attested {
			n := g.get("from")
			if n == nil {
				n = g.node
			}
			r.problem(n, g.at("from"), "approve in a system whose records are attested or independent", "%s is only %s, and an approval counts from attested on", name, s.Trust)
		}
	}
}
