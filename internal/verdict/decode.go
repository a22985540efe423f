package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// FormError says what is wrong with the text of a case, and where.
type FormError struct {
	Pointer string // RFC 6901; empty for the whole
	Err     error
}

func (e *FormError) Error() string {
	if e.Pointer == "" {
		return "read a case: " + e.Err.Error()
	}
	return "read a case: " + e.Pointer + ": " + e.Err.Error()
}

// Unwrap gives the cause, such as [contract.Problems].
func (e *FormError) Unwrap() error { return e.Err }

// ErrEngineUnknown says that a case asks for the rules of a later version.
var ErrEngineUnknown = errors.New("no such engine here")

// DecodeCase reads what [Case.AppendJSON] writes, whatever the order of its
// members and its white space. It refuses everything else with a [FormError]:
// members that it does not know or that are missing or there twice, null,
// numbers and words out of their range, a contract that its digest does not
// name, and anything after the end.
func DecodeCase(text []byte) (*Case, error) {
	var form caseForm
	if err := json.Unmarshal(text, &form, decoding()); err != nil {
		if later := laterEngine(text); later != nil {
			return nil, later
		}
		return nil, formError(err)
	}
	if err := checkShape(text); err != nil {
		return nil, err
	}
	c := &form.Case
	for _, h := range form.History {
		h.History.From = value.Instant(h.From)
		c.History = append(c.History, h.History)
	}
	if err := inspect(c, form.Governing); err != nil {
		return nil, err
	}
	if form.Governing != nil {
		governing, err := form.Governing.compile()
		if err != nil {
			return nil, err
		}
		c.Governing = governing
	}
	return c, nil
}

// caseForm is a case as JSON has it; what it names itself hides what the case
// has under that name.
type caseForm struct {
	Case
	Governing *governingForm `json:"governing,omitzero"`
	History   []historyForm  `json:"history,omitzero"`
}

type governingForm struct {
	Digest  string `json:"digest"`
	ID      string `json:"id"`
	Mode    Mode   `json:"mode"`
	Text    string `json:"text"`
	Version int    `json:"version"`
}

type historyForm struct {
	History
	From earlyInstant `json:"from"`
}

// earlyInstant is the beginning of a window, which may lie before any time
// that a declaration may have.
type earlyInstant value.Instant

func (i *earlyInstant) UnmarshalText(text []byte) error {
	if t, err := time.Parse(time.RFC3339Nano, string(text)); err == nil && t.Year() < 1972 {
		*i = earlyInstant(value.FromTime(t))
		return nil
	}
	t, err := value.ParseInstant(string(text))
	*i = earlyInstant(t)
	return err
}

// compile reads the contract's text, which must be the one that its digest
// names.
func (g *governingForm) compile() (*Governing, error) {
	sum := sha256.Sum256([]byte(g.Text))
	if actual := "sha256:" + hex.EncodeToString(sum[:]); actual != g.Digest {
		return nil, &FormError{"/governing/digest", fmt.Errorf("the text's digest is %s", actual)}
	}
	compiled, err := contract.Parse([]byte(g.Text))
	if err != nil {
		return nil, &FormError{"/governing/text", err}
	}
	if compiled.ID != g.ID {
		return nil, &FormError{"/governing/id", fmt.Errorf("the text is of the contract %q", compiled.ID)}
	}
	return &Governing{Contract: compiled, Version: g.Version, Mode: g.Mode}, nil
}

func decoding() json.Options {
	return json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(decodeAmount)),
	)
}

// decodeAmount reads an amount in the one form that values have for it.
func decodeAmount(d *jsontext.Decoder, a *money.Amount) error {
	var v value.Value
	if err := v.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	if v.Kind() != value.Money {
		return errors.New(`an amount is written {"amount": "180.00", "currency": "USD"}`)
	}
	*a = v.Amount()
	return nil
}

// laterEngine finds that a case was made by a later version, which explains
// whatever else is wrong with it.
func laterEngine(text []byte) error {
	var form struct {
		Engine int `json:"engine"`
	}
	if json.Unmarshal(text, &form) != nil || form.Engine <= Engine {
		return nil
	}
	return engineError(form.Engine)
}

func engineError(engine int) error {
	return &FormError{"/engine", fmt.Errorf("%w: the case asks for engine %d, this version of deed has 1 to %d", ErrEngineUnknown, engine, Engine)}
}

// formError says in the words of JSON what the library says in those of Go.
func formError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		switch {
		case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
			return &FormError{string(syntax.JSONPointer), errors.New("the member is there twice")}
		case syntax.Err == nil:
			return &FormError{string(syntax.JSONPointer), errors.New("this is not JSON")}
		}
		return &FormError{string(syntax.JSONPointer), fmt.Errorf("this is not JSON: %w, at byte %d", syntax.Err, syntax.ByteOffset)}
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		switch {
		case errors.Is(semantic.Err, json.ErrUnknownName):
			return &FormError{string(semantic.JSONPointer), errors.New("there is no such member")}
		case semantic.JSONKind == jsontext.KindNumber && len(semantic.JSONValue) > 0:
			return &FormError{string(semantic.JSONPointer), fmt.Errorf("%s is no integer of 64 bits", clip(semantic.JSONValue))}
		case semantic.Err != nil:
			return &FormError{string(semantic.JSONPointer), semantic.Err}
		}
		return &FormError{string(semantic.JSONPointer), fmt.Errorf("a %s does not belong here", semantic.JSONKind)}
	}
	return &FormError{"", err}
}

// clip keeps a number that stands in an error short.
func clip(number jsontext.Value) string {
	if len(number) > 40 {
		return string(number[:40]) + "…"
	}
	return string(number)
}
