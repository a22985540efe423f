package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/condition"
)

// maxChecks of one contract.
const maxChecks = 2_000

// Defaults of what is left out.
const (
	defaultGrace    = 12 * time.Hour
	defaultMaxSkew  = 2 * time.Minute
	defaultLookback = 7 * day
)

// Parse compiles a contract. An error is of type [Problems] and names
// everything that is wrong; what is only odd is in [Contract.Warnings].
func Parse(source []byte) (*Contract, error) {
	root, problems := plant(string(source))
	if len(problems) > 0 {
		return nil, Problems(sorted(problems))
	}
	r := newReader(string(source))
	r.read(root)
	for _, check := range r.later {
		check()
	}
	if len(r.problems) > 0 {
		return nil, Problems(sorted(r.problems))
	}
	sum := sha256.Sum256(source)
	r.contract.Digest = "sha256:" + hex.EncodeToString(sum[:])
	r.contract.Warnings = sorted(r.warnings)
	return r.contract, nil
}

// read goes through the keys in the order in which one needs another: the
// parameters before the conditions that read them, the sources before the
// checks that name them.
func (r *reader) read(root *node) {
	f, ok := r.mapping(root, "", "")
	if !ok {
		return
	}
	c := r.contract
	c.ID = f.contractID("contract")
	c.Title, c.Owner = f.text("title"), f.text("owner")
	for _, n := range f.texts("not_checked", false) {
		c.NotChecked = append(c.NotChecked, n.text)
	}
	if g, ok := f.section("applies_to"); ok {
		c.AppliesTo = AppliesTo{ActionType: g.text("action_type"), SubjectKind: g.text("subject_kind")}
	}
	r.params(f)
	r.declared = condition.Scope{Params: c.kinds()}
	r.seen = condition.Scope{Params: r.declared.Params, Fact: true}
	r.settle(f)
	r.sources(f)
	c.Link = r.links(f, Link{Ref: "action_id", By: ByActionID}, Link{By: BySubject})
	r.steps(f)
	r.nevers(f)
	r.states(f)
	r.limits(f)
	r.approvals(f)
	r.rest(f)
	if len(r.problems) == 0 {
		r.unused(f)
	}
}

// section reads a key whose value has keys of its own.
func (f fields) section(name string) (fields, bool) {
	n := f.get(name)
	if n == nil {
		return fields{}, false
	}
	return f.mapping(n, name, name)
}

// contractID reads the id of a contract, which may have dots.
func (f fields) contractID(name string) string {
	n := f.get(name)
	if n == nil {
		return ""
	}
	s, ok := f.plain(n, f.at(name))
	if ok && !f.form(n, f.at(name), isContractID, "a contract's id has up to 64 letters, digits, _, - and dots, and begins with a letter") {
		return ""
	}
	return s
}

func (r *reader) settle(f fields) {
	g, ok := f.section("settle")
	if !ok {
		return
	}
	s := Settle{
		After:   g.duration("after", time.Second, 0),
		Grace:   g.duration("grace", 0, defaultGrace),
		MaxSkew: g.duration("max_skew", 0, defaultMaxSkew),
	}
	if n := g.get("max_skew"); n != nil && s.MaxSkew > day {
		r.problem(n, g.at("max_skew"), "write at most 1d; what happens so long before the request is not its effect", "%s is more than clocks differ", clip(n.text))
	}
	r.contract.Settle = s
}

func (r *reader) sources(f fields) {
	for _, e := range f.named("sources", "source") {
		path := join("sources", e.key.text)
		if !r.form(e.key, path, isName, "a source's name has up to 64 letters, digits, _ and -, and begins with a letter") {
			continue
		}
		if e.key.text == "none" {
			r.problem(e.key, path, "choose another name", "none says that no source decides, so it names no source")
		}
		source := Source{Name: e.key.text}
		if g, ok := r.mapping(e.value, "sources", path); ok {
			source.Trust = g.trust("trust")
		}
		r.contract.Sources = append(r.contract.Sources, source)
	}
	if n := f.get("sources"); n != nil && n.kind == mapping && len(n.entries) == 0 {
		r.problem(n, "sources", "write `stripe: {trust: independent}`", "there is no source")
	}
}

// unused warns of sources that nothing asks.
func (r *reader) unused(f fields) {
	c := r.contract
	asked := map[string]bool{c.Evidence.Decides: true}
	ask := func(o Observation) {
		for _, name := range o.From {
			asked[name] = true
		}
	}
	for i := range c.Steps {
		ask(c.Steps[i].Observation)
	}
	for i := range c.Never {
		ask(c.Never[i].Observation)
	}
	for i := range c.State {
		ask(c.State[i].Observation)
	}
	for i := range c.Approvals {
		ask(c.Approvals[i].Observation)
	}
	for _, e := range f.named("sources", "source") {
		if !asked[e.key.text] {
			r.warn(e.key, join("sources", e.key.text), "name it under `from`, or leave it out", "no check asks the source %s", clip(e.key.text))
		}
	}
}

func (c *Contract) source(name string) *Source {
	for i := range c.Sources {
		if c.Sources[i].Name == name {
			return &c.Sources[i]
		}
	}
	return nil
}

func (c *Contract) param(name string) *Param {
	for i := range c.Params {
		if c.Params[i].Name == name {
			return &c.Params[i]
		}
	}
	return nil
}

func (c *Contract) step(id string) *Step {
	for i := range c.Steps {
		if c.Steps[i].ID == id {
			return &c.Steps[i]
		}
	}
	return nil
}

// rest reads what is said of the contract as a whole.
func (r *reader) rest(f fields) {
	if g, ok := f.section("compensation"); ok {
		c := &Compensation{By: g.contractID("by"), NetZero: g.word("net") == "zero"}
		if c.By != "" && c.By == r.contract.ID {
			r.problem(g.get("by"), g.at("by"), "name the contract whose actions undo", "a contract does not undo itself")
		}
		r.contract.Compensation = c
	}
	r.contract.Evidence.Exclusive = true
	if g, ok := f.section("evidence"); ok {
		r.evidence(g)
	}
	if g, ok := f.section("verified_amount"); ok {
		r.verifiedAmount(g)
	}
	if g, ok := f.section("orphans"); ok {
		r.contract.Orphans = g.condition("where", r.seen)
		if e := r.contract.Orphans; e != nil && (e.Reads(condition.Params) || e.Reads(condition.Action)) {
			r.problem(g.get("where"), g.at("where"), "compare attributes of the fact, as in fact.actor", "an effect that no action claims has neither action nor params")
		}
	}
	r.sameEffect(f)
}

func (r *reader) evidence(g fields) {
	e := &r.contract.Evidence
	e.Exclusive = g.flag("exclusive", true)
	g.word("late")
	if n := g.get("decides"); n != nil {
		if name := g.id("decides"); name != "none" && name != "" {
			r.knownSource(n, g.at("decides"))
			e.Decides = name
		}
	}
	if n := g.get("same_effect"); n != nil {
		ref, ok := refName(n.text)
		if n.kind != text || !ok {
			r.problem(n, g.at("same_effect"), "write refs.NAME, as in refs.refund", "%q is not the key of a fact", n.shown())
		}
		e.SameEffect = ref
	}
}

func (r *reader) verifiedAmount(g fields) {
	v := &VerifiedAmount{Step: g.id("step"), Of: g.expression("of", r.seen)}
	if n := g.get("step"); n != nil && v.Step != "" {
		r.knownStep(n, g.at("step"))
	}
	r.wantsAmount(g, "of", v.Of)
	r.contract.VerifiedAmount = v
}

// wantsAmount refuses an expression that can never be money.
func (r *reader) wantsAmount(g fields, name string, e *condition.Expr) {
	if e != nil && !mayBeMoney(e) {
		r.problem(g.get(name), g.at(name), "write fact.amount, or a parameter of type money", "this is %s, not an amount of money", condition.Noun(e.Kind()))
	}
}

// sameEffect warns where several sources tell of one step and nothing says when
// they mean one effect.
func (r *reader) sameEffect(f fields) {
	if r.contract.Evidence.SameEffect != "" {
		return
	}
	for i, step := range r.contract.Steps {
		if len(step.From) < 2 || step.Count.Max == 0 && step.Quorum < 2 {
			continue
		}
		items := r.list(f.get("steps"), "steps", false)
		if i >= len(items) {
			return
		}
		r.warn(items[i], fmt.Sprintf("steps[%d]", i), "name the key that they share: `evidence: {same_effect: refs.NAME}`",
			"%d sources tell of %s, and nothing says when they mean one effect", len(step.From), step.ID)
	}
}
