package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Verification is a verdict with words added, ready to be written.
type Verification jsontext.Value

// MarshalJSONTo writes it as it is.
func (v Verification) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteValue(jsontext.Value(v))
}

// Summary is a verdict in words.
type Summary struct {
	Headline string `json:"headline" jsonschema:"one sentence for people, at most 200 characters; its words may change"`
	Next     string `json:"next" jsonschema:"what to do next, from the registry of codes"`
}

// order is that of a verification's members. What a person looks for stands
// first; the rest is sorted.
var order = []string{
	"status", "badge", "decided", "settles_at", "settled_at", "revision", "supersedes",
	"outcome", "conformance", "checks", "waits", "notes", "verified_amount", "compensation",
	"action_id", "case", "contract_digest", "contract_id", "contract_version", "engine", "evaluated_at", "mode",
}

// VerificationOf writes a verdict. selfAttested says that whoever declared the
// action could write facts too.
func VerificationOf(v *verdict.Verdict, selfAttested bool) (Verification, error) {
	canonical := v.AppendJSON(nil)
	members, err := split(canonical)
	if err != nil {
		return nil, fmt.Errorf("write the verification of %s: %w", v.ActionID, err)
	}
	for _, name := range []string{"checks", "notes"} {
		if text, there := members[name]; there {
			if members[name], err = explained(text); err != nil {
				return nil, fmt.Errorf("write the reasons of %s: %w", v.ActionID, err)
			}
		}
	}
	b := make([]byte, 0, len(canonical)*2)
	b = append(b, `{"summary":`...)
	b = appendSummary(b, summaryOf(v))
	for _, name := range order {
		if text, there := members[name]; there {
			b = append(append(append(append(b, `,"`...), name...), `":`...), text...)
			delete(members, name)
		}
	}
	if len(members) > 0 {
		return nil, fmt.Errorf("write the verification of %s: the verdict has %d members that have no place", v.ActionID, len(members))
	}
	b = append(b, `,"digest":"`...)
	sum := sha256.Sum256(canonical) // as the verdict's own digest is made
	b = append(hex.AppendEncode(append(b, "sha256:"...), sum[:]), '"')
	if selfAttested {
		b = append(b, `,"self_attested":true`...)
	}
	return Verification(append(b, '}')), nil
}

func appendSummary(b []byte, s Summary) []byte {
	b = value.AppendString(append(b, `{"headline":`...), s.Headline)
	b = value.AppendString(append(b, `,"next":`...), s.Next)
	return append(b, '}')
}

// split cuts an object in its canonical form into the texts of its members.
func split(object []byte) (map[string]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	members := map[string]jsontext.Value{}
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		text, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(d.InputOffset())
		members[key] = object[end-len(text) : end : end]
	}
	return members, nil
}

// explained copies a text in its canonical form, which is without spaces, and adds label
// and next to every reason in it, each in its place among the sorted members: label
// stands behind code and fact, and next behind it.
func explained(text []byte) (jsontext.Value, error) {
	out := make([]byte, 0, 2*len(text))
	comma := false // one that is not written yet: a label may stand before it
	var entry verdict.Entry
	named, inReason, labelled := false, false, false
	label := func() {
		if inReason && !labelled {
			labelled = true
			out = value.AppendString(append(out, `,"label":`...), entry.Label)
			out = value.AppendString(append(out, `,"next":`...), entry.Next)
		}
	}
	write := func(token []byte) {
		if comma {
			out, comma = append(out, ','), false
		}
		out = append(out, token...)
	}
	for len(text) > 0 {
		length := 1
		switch text[0] {
		case ',':
			comma = true
			text = text[1:]
			continue
		case '}':
			label()
			inReason = false
		case '"':
			end := closing(text)
			if end < 0 {
				return nil, errors.New("a text in it has no end")
			}
			length = end + 1
			isName := length < len(text) && text[length] == ':'
			switch name := string(text[1:end]); {
			case named:
				named, inReason, labelled = false, true, false
				entry, _ = verdict.Lookup(verdict.Code(name))
			case isName && name == "code":
				named = true
			case isName && name == "source":
				label()
			}
		}
		write(text[:length])
		text = text[length:]
	}
	return out, nil
}

// closing is where a text that begins with a quotation mark ends; negative if it does not.
func closing(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// Short is a verification in a list: where it stands, without its checks.
type Short struct {
	Summary      Summary        `json:"summary"`
	Status       verdict.Status `json:"status"`
	Badge        verdict.Result `json:"badge"`
	Decided      bool           `json:"decided"`
	SettlesAt    value.Instant  `json:"settles_at"`
	SettledAt    value.Instant  `json:"settled_at,omitzero"`
	Revision     int            `json:"revision,omitzero"`
	Outcome      Lens           `json:"outcome"`
	Conformance  Lens           `json:"conformance"`
	SelfAttested bool           `json:"self_attested,omitzero"`
	Waits        []verdict.Wait `json:"waits,omitzero"` // only among the pending
}

// ShortOf is a verdict without its checks.
func ShortOf(v *verdict.Verdict, selfAttested bool) *Short {
	return &Short{
		Summary: summaryOf(v), Status: v.Status, Badge: v.Badge, Decided: v.Decided,
		SettlesAt: v.SettlesAt, SettledAt: v.SettledAt, Revision: v.Revision,
		Outcome: lensOf(v.Outcome), Conformance: lensOf(v.Conformance), SelfAttested: selfAttested,
	}
}

// WaitingOf is the same with what the verdict waits for.
func WaitingOf(v *verdict.Verdict, selfAttested bool) *Short {
	s := ShortOf(v, selfAttested)
	s.Waits = v.Waits
	return s
}

// Lens is one of the two answers, its members in the order of the canonical form.
type Lens struct {
	Codes   []verdict.Code `json:"codes"`
	Decided bool           `json:"decided"`
	Result  verdict.Result `json:"result"`
}

func lensOf(l verdict.Lens) Lens { return Lens{Codes: l.Codes, Decided: l.Decided, Result: l.Result} }

// VerificationForm is what a [Verification] has, for a schema. What a verdict's
// canonical form leaves out is left out.
type VerificationForm struct {
	Summary         Summary        `json:"summary"`
	Status          verdict.Status `json:"status"`
	Badge           verdict.Result `json:"badge" jsonschema:"the worse of both lenses"`
	Decided         bool           `json:"decided" jsonschema:"no new fact can change either lens"`
	SettlesAt       value.Instant  `json:"settles_at"`
	SettledAt       value.Instant  `json:"settled_at,omitzero"`
	Revision        int            `json:"revision,omitzero"`
	Supersedes      string         `json:"supersedes,omitzero"`
	Outcome         Lens           `json:"outcome"`
	Conformance     Lens           `json:"conformance"`
	Checks          []CheckForm    `json:"checks"`
	Waits           []verdict.Wait `json:"waits,omitzero"`
	Notes           []ReasonForm   `json:"notes,omitzero"`
	VerifiedAmount  *Amount        `json:"verified_amount,omitzero"`
	Compensation    *Compensation  `json:"compensation,omitzero"`
	ActionID        string         `json:"action_id"`
	Case            string         `json:"case" jsonschema:"digest of everything that the verdict follows from"`
	ContractDigest  string         `json:"contract_digest,omitzero"`
	ContractID      string         `json:"contract_id,omitzero"`
	ContractVersion int            `json:"contract_version,omitzero"`
	Engine          int            `json:"engine"`
	EvaluatedAt     value.Instant  `json:"evaluated_at"`
	Mode            verdict.Mode   `json:"mode,omitzero"`
	Digest          string         `json:"digest" jsonschema:"of the verdict in its canonical form, without the words that an answer adds"`
	SelfAttested    bool           `json:"self_attested,omitzero"`
}

// CheckForm is one rule of the contract applied to the action.
type CheckForm struct {
	Final   bool           `json:"final"`
	From    value.Instant  `json:"from,omitzero"`
	ID      string         `json:"id"`
	Kind    verdict.Kind   `json:"kind"`
	Lens    string         `json:"lens"`
	Reasons []ReasonForm   `json:"reasons"`
	Result  verdict.Result `json:"result"`
	Seen    []SeenForm     `json:"seen,omitempty"`
	Until   value.Instant  `json:"until,omitzero"`
	Waits   []verdict.Wait `json:"waits,omitzero"`
}

// SeenForm is a fact that a check looked at.
type SeenForm struct {
	ExternalID string        `json:"external_id"`
	Link       string        `json:"link" jsonschema:"refs.NAME, subject, or empty if it does not link"`
	OccurredAt value.Instant `json:"occurred_at"`
	Revision   int64         `json:"revision,omitzero"`
	Role       verdict.Role  `json:"role" jsonschema:"what it did for the check"`
	Source     string        `json:"source"`
	Type       string        `json:"type"`
}

// ReasonForm is a reason with its words.
type ReasonForm struct {
	About  string       `json:"about,omitzero"`
	Code   verdict.Code `json:"code"`
	Fact   string       `json:"fact,omitzero"`
	Label  string       `json:"label" jsonschema:"what the code means, in a few words"`
	Next   string       `json:"next" jsonschema:"what to do next"`
	Source string       `json:"source,omitzero"`
}

// Compensation is what undoes the action, or what it undoes.
type Compensation struct {
	By      []Compensator  `json:"by,omitempty"`
	Net     *Amount        `json:"net,omitzero"`
	NetZero verdict.Result `json:"net_zero,omitzero"`
	Of      string         `json:"of,omitzero"`
	Refused []string       `json:"refused,omitempty"`
}

// Compensator is an action that says it undoes another.
type Compensator struct {
	ActionID   string         `json:"action_id"`
	ContractID string         `json:"contract_id"`
	DeclaredAt value.Instant  `json:"declared_at"`
	Outcome    verdict.Result `json:"outcome"`
	Status     verdict.Status `json:"status"`
	Verified   *Amount        `json:"verified,omitzero"`
}

// Amount is money: an exact decimal and the currency that it is in.
type Amount struct {
	Amount   string `json:"amount" jsonschema:"exact decimal"`
	Currency string `json:"currency" jsonschema:"ISO 4217"`
}

// AmountOf is an amount as it is shown.
func AmountOf(a money.Amount) Amount {
	return Amount{Amount: money.Text(a.Value), Currency: string(a.Currency)}
}

// amountOf is nil for nil.
func amountOf(a *money.Amount) *Amount {
	if a == nil {
		return nil
	}
	shown := AmountOf(*a)
	return &shown
}

// CompensationOf is what undoes an action, or what it undoes; nil for neither.
func CompensationOf(c *verdict.Compensation) *Compensation {
	if c == nil {
		return nil
	}
	shown := &Compensation{Net: amountOf(c.Net), NetZero: c.NetZero, Of: c.Of, Refused: c.Refused}
	for _, by := range c.By {
		shown.By = append(shown.By, Compensator{
			ActionID: by.ActionID, ContractID: by.ContractID, DeclaredAt: by.DeclaredAt,
			Outcome: by.Outcome, Status: by.Status, Verified: amountOf(by.Verified),
		})
	}
	return shown
}
