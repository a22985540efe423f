package intake

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

// What a fact, and a list of facts, may have at most.
const (
	maxFacts      = 1000
	maxFact       = 64 << 10
	maxName       = 256
	maxExternalID = 512
	maxRefs       = 50
	maxRef        = 512
	maxAttrs      = 200
)

// Fact is what somebody sent, read.
type Fact struct {
	evidence.Fact // without the time of its arrival
	Body          []byte
}

// Parse reads {"facts": […]}, 1 to 1,000 of them. Errors: [InvalidError] with all
// that is wrong with any of them. The body must not be changed any more.
func Parse(body []byte) ([]Fact, error) {
	var list struct {
		Facts []jsontext.Value `json:"facts"`
	}
	if err := json.Unmarshal(body, &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, &InvalidError{Problems: []Problem{problemOf(err)}}
	}
	if n := len(list.Facts); n == 0 || n > maxFacts {
		return nil, invalid("facts", "has %d facts; 1 to %d are taken at once", n, maxFacts)
	}
	facts := make([]Fact, len(list.Facts))
	var problems []Problem
	for i, text := range list.Facts {
		facts[i].Body = text
		for _, p := range facts[i].read() {
			p.Index = i
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		return nil, &InvalidError{Of: len(facts), Problems: problems}
	}
	return facts, nil
}

// form is a fact as it is sent. When it arrived is not the sender's to say.
type form struct {
	Source      string                 `json:"source"`
	ExternalID  string                 `json:"external_id"`
	Type        string                 `json:"type"`
	SubjectID   string                 `json:"subject_id"`
	SubjectKind string                 `json:"subject_kind"`
	Refs        map[string]string      `json:"refs"`
	Attrs       map[string]value.Value `json:"attrs"`
	OccurredAt  value.Instant          `json:"occurred_at"`
	ObservedAt  value.Instant          `json:"observed_at"`
	Mode        evidence.Mode          `json:"mode"`
	Revision    int64                  `json:"revision"`
	Retracted   bool                   `json:"retracted"`
	Payload     string                 `json:"payload"`
}

// read reads the body and says what is wrong with it.
func (f *Fact) read() []Problem {
	if len(f.Body) > maxFact {
		return []Problem{{Message: fmt.Sprintf("has %d bytes, at most %d are taken", len(f.Body), maxFact)}}
	}
	var sent form
	if err := json.Unmarshal(f.Body, &sent, json.RejectUnknownMembers(true)); err != nil {
		return []Problem{problemOf(err)}
	}
	f.Fact = evidence.Fact{
		Source: sent.Source, ExternalID: sent.ExternalID, Type: sent.Type, SubjectID: sent.SubjectID, SubjectKind: sent.SubjectKind,
		Refs: sent.Refs, Attrs: withoutMissing(sent.Attrs), OccurredAt: sent.OccurredAt, ObservedAt: sent.ObservedAt,
		Mode: sent.Mode, Revision: sent.Revision, Retracted: sent.Retracted, Payload: sent.Payload,
	}
	return f.problems()
}

// withoutMissing leaves out what says null: there is no such attribute.
func withoutMissing(attrs map[string]value.Value) map[string]value.Value {
	maps.DeleteFunc(attrs, func(_ string, v value.Value) bool { return v.IsMissing() })
	if len(attrs) == 0 {
		return nil
	}
	return attrs
}

func (f *Fact) problems() []Problem {
	var problems []Problem
	add := func(field, format string, args ...any) {
		problems = append(problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	for _, text := range []struct {
		field, text string
		most        int
		required    bool
	}{
		{"source", f.Source, maxName, true},
		{"external_id", f.ExternalID, maxExternalID, true},
		{"type", f.Type, maxName, true},
		{"subject_id", f.SubjectID, maxName, false},
		{"subject_kind", f.SubjectKind, maxName, false},
		{"payload", f.Payload, maxName, false},
	} {
		switch {
		case text.text == "" && text.required:
			add(text.field, "is missing")
		case len(text.text) > text.most:
			add(text.field, "has %d bytes, at most %d are taken", len(text.text), text.most)
		case strings.ContainsRune(text.text, 0):
			add(text.field, "has a character U+0000, which no text may have")
		}
	}
	if family, name, dotted := strings.Cut(f.Type, "."); f.Type != "" && (!dotted || family == "" || name == "") {
		add("type", "has to be a family and a name with a dot between them, as in refund.succeeded")
	}
	if f.OccurredAt == 0 {
		add("occurred_at", "is missing")
	}
	if f.Mode != "" && f.Mode != evidence.Event && f.Mode != evidence.State {
		add("mode", "is event or state")
	}
	if f.Revision < 0 || f.Revision > 1<<53-1 {
		add("revision", "has to be a whole number from 1")
	}
	if len(f.Refs) > maxRefs {
		add("refs", "has %d members, at most %d are taken", len(f.Refs), maxRefs)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Refs)) {
		switch key := f.Refs[name]; {
		case name == "" || key == "":
			delete(f.Refs, name) // an empty key links nothing
		case len(name) > maxName || len(key) > maxRef:
			add("refs."+name, "has a name or a key that is too long; names have at most %d bytes, keys %d", maxName, maxRef)
		case strings.ContainsRune(name+key, 0):
			add("refs."+name, "has a character U+0000, which no text may have")
		}
	}
	if len(f.Refs) == 0 {
		f.Refs = nil
	}
	if len(f.Attrs) > maxAttrs {
		add("attrs", "has %d members, at most %d are taken", len(f.Attrs), maxAttrs)
	}
	return problems
}

// problemOf says in the words of JSON what the library says in those of Go.
func problemOf(err error) Problem {
	if syntactic, is := errors.AsType[*jsontext.SyntacticError](err); is {
		field := pathOf(syntactic.JSONPointer)
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			return Problem{Field: field, Message: "the member is there twice"}
		}
		return Problem{Field: field, Message: fmt.Sprintf("this is not JSON: %v, at byte %d", syntactic.Err, syntactic.ByteOffset)}
	}
	semantic, is := errors.AsType[*json.SemanticError](err)
	if !is {
		return Problem{Message: "this is not JSON: it ends too early"}
	}
	p := Problem{Field: pathOf(semantic.JSONPointer)}
	switch {
	case errors.Is(semantic.Err, json.ErrUnknownName):
		p.Message = "there is no such member"
	case semantic.JSONKind == jsontext.KindString && strings.HasSuffix(p.Field, "_at") && semantic.Err != nil:
		p.Message = semantic.Err.Error()
	case semantic.Err != nil && strings.HasPrefix(p.Field, "attrs."):
		p.Message = semantic.Err.Error()
	default:
		p.Message = noun(semantic.JSONKind) + " cannot stand here"
	}
	return p
}

func noun(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindString:
		return "a text"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindBeginArray:
		return "a list"
	}
	return "an object"
}

// pathOf writes a JSON pointer as names with dots between them.
func pathOf(pointer jsontext.Pointer) string {
	return strings.Join(slices.Collect(pointer.Tokens()), ".")
}
