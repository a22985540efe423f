package verdict

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

// largestInt is the largest integer that every JSON reader gets right.
const largestInt = 1<<53 - 1

// inspection keeps the first thing that is wrong with a case.
type inspection struct{ err error }

func (in *inspection) refuse(pointer, format string, args ...any) {
	if in.err == nil {
		in.err = &FormError{pointer, fmt.Errorf(format, args...)}
	}
}

func (in *inspection) filled(text, pointer string) {
	if text == "" {
		in.refuse(pointer, "the text is empty")
	}
}

func (in *inspection) timed(i value.Instant, pointer string) {
	if i == 0 {
		in.refuse(pointer, "the time is empty")
	}
}

func (in *inspection) within(n, least int64, pointer string) {
	if n < least || n > largestInt {
		in.refuse(pointer, "%d is not between %d and 2^53-1", n, least)
	}
}

func oneOf[T ~string](in *inspection, word T, pointer string, words ...T) {
	for _, w := range words {
		if w == word {
			return
		}
	}
	in.refuse(pointer, "%q is none of %q", word, words)
}

// once finds a key that two elements of a list have.
type once map[string]int

func (o once) see(in *inspection, key string, at int, pointer, what string) {
	if first, seen := o[key]; seen {
		in.refuse(pointer, "%s is that of element %d too", what, first)
	}
	o[key] = at
}

func (in *inspection) digest(text, pointer string) {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if _, err := hex.DecodeString(digits); !ok || err != nil || len(digits) != 64 || digits != strings.ToLower(digits) {
		in.refuse(pointer, "%q is no digest: sha256: and 64 small hexadecimal digits", text)
	}
}

// inspect checks what the types do not say.
func inspect(c *Case, g *governingForm) error {
	in := &inspection{}
	if c.Engine > Engine {
		return engineError(c.Engine)
	}
	in.within(int64(c.Engine), 1, "/engine")
	in.timed(c.At, "/at")
	if len(c.Declarations) == 0 {
		in.refuse("/declarations", "there must be at least one")
		return in.err
	}
	for i := range c.Declarations {
		at := fmt.Sprintf("/declarations/%d", i)
		in.declaration(&c.Declarations[i], at)
		if c.Declarations[i].ActionID != c.Declarations[0].ActionID {
			in.refuse(at+"/action_id", "all are revisions of one action")
		}
	}
	rivals := once{}
	for i := range c.Rivals {
		at := fmt.Sprintf("/rivals/%d", i)
		in.declaration(&c.Rivals[i], at)
		rivals.see(in, c.Rivals[i].ActionID, i, at+"/action_id", "the action")
		if c.Rivals[i].ActionID == c.Declarations[0].ActionID {
			in.refuse(at+"/action_id", "an action is no rival of itself")
		}
	}
	for i := range c.Facts {
		in.fact(&c.Facts[i], fmt.Sprintf("/facts/%d", i))
	}
	in.sources(c.Sources, "/sources")
	in.history(c.History)
	for i, s := range c.Shared {
		at := fmt.Sprintf("/shared/%d", i)
		in.filled(s.Source, at+"/source")
		in.filled(s.Type, at+"/type")
		in.filled(s.ExternalID, at+"/external_id")
		in.filled(s.ActionID, at+"/action_id")
		in.filled(s.ContractID, at+"/contract_id")
	}
	in.compensators(c.Compensators, "/compensators")
	if t := c.Compensates; t != nil {
		in.filled(t.ActionID, "/compensates/action_id")
		for i, id := range t.Chain {
			in.filled(id, fmt.Sprintf("/compensates/chain/%d", i))
		}
		in.compensators(t.Earlier, "/compensates/earlier")
	}
	if c.Previous != nil {
		in.previous(c.Previous)
	}
	if g != nil {
		in.governing(g, c.Declarations[0].ContractID)
	}
	return in.err
}

func (in *inspection) governing(g *governingForm, declared string) {
	in.digest(g.Digest, "/governing/digest")
	in.within(int64(g.Version), 1, "/governing/version")
	oneOf(in, g.Mode, "/governing/mode", Live, Shadow)
	if g.ID != declared {
		in.refuse("/governing/id", "%q is not the contract that the first declaration names, which is %q", g.ID, declared)
	}
}

func (in *inspection) declaration(d *Declaration, at string) {
	in.filled(d.ActionID, at+"/action_id")
	in.timed(d.ReceivedAt, at+"/received_at")
	in.within(int64(d.ContractVersion), 0, at+"/contract_version")
}

func (in *inspection) fact(f *evidence.Fact, at string) {
	in.filled(f.Source, at+"/source")
	in.filled(f.ExternalID, at+"/external_id")
	in.filled(f.Type, at+"/type")
	in.timed(f.OccurredAt, at+"/occurred_at")
	in.within(f.Revision, 0, at+"/revision")
	oneOf(in, f.Mode, at+"/mode", "", evidence.Event, evidence.State)
}

func (in *inspection) sources(list []evidence.Source, at string) {
	names := once{}
	for i := range list {
		s, at := &list[i], fmt.Sprintf("%s/%d", at, i)
		in.filled(s.Name, at+"/name")
		names.see(in, s.Name, i, at+"/name", "the name")
		types := once{}
		for j, provided := range s.Provides {
			in.filled(provided, fmt.Sprintf("%s/provides/%d", at, j))
			types.see(in, provided, j, fmt.Sprintf("%s/provides/%d", at, j), "the type")
		}
		for factType, mark := range s.Watermarks {
			if mark == 0 {
				in.refuse(string(jsontext.Pointer(at+"/watermarks").AppendToken(factType)), "the time is empty")
			}
		}
	}
}

func (in *inspection) history(list []History) {
	limits := once{}
	for i := range list {
		h, at := &list[i], fmt.Sprintf("/history/%d", i)
		in.filled(h.Limit, at+"/limit")
		limits.see(in, h.Limit, i, at+"/limit", "the limit")
		in.timed(h.To, at+"/to")
		if h.From > h.To {
			in.refuse(at+"/from", "the window ends before it begins")
		}
		in.within(int64(h.Count), 0, at+"/count")
		in.within(int64(h.Unvalued), 0, at+"/unvalued")
		currencies := once{}
		for j, total := range h.Totals {
			currencies.see(in, string(total.Currency), j, fmt.Sprintf("%s/totals/%d/currency", at, j), "the currency")
		}
	}
}

func (in *inspection) compensators(list []Compensator, at string) {
	actions := once{}
	for i, c := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		in.filled(c.ActionID, at+"/action_id")
		actions.see(in, c.ActionID, i, at+"/action_id", "the action")
		in.timed(c.DeclaredAt, at+"/declared_at")
		oneOf(in, c.Status, at+"/status", Recorded, Provisional, Settled, Revised)
		oneOf(in, c.Outcome, at+"/outcome", Pass, Fail, Unknown)
	}
}

func (in *inspection) previous(p *Previous) {
	in.digest(p.Digest, "/previous/digest")
	in.within(int64(p.Revision), 1, "/previous/revision")
	in.timed(p.SettledAt, "/previous/settled_at")
	oneOf(in, p.Outcome, "/previous/outcome", Pass, Fail, Unknown)
	oneOf(in, p.Conformance, "/previous/conformance", Pass, Fail, Unknown)
	checks := once{}
	for i, check := range p.Checks {
		at := fmt.Sprintf("/previous/checks/%d", i)
		in.filled(check.ID, at+"/id")
		checks.see(in, check.ID, i, at+"/id", "the check")
		oneOf(in, check.Result, at+"/result", Pass, Fail, Unknown, NotApplicable)
		if len(check.Codes) == 0 {
			in.refuse(at+"/codes", "a check has at least one")
		}
		for j, code := range check.Codes {
			if _, known := Lookup(code); !known {
				in.refuse(fmt.Sprintf("%s/codes/%d", at, j), "the registry has no code %q", code)
			}
		}
	}
	in.sources(p.Sources, "/previous/sources")
}
