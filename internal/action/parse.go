package action

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// What a declaration may have at most.
const (
	maxBody        = 256 << 10
	maxID          = 512
	maxName        = 256
	maxChannel     = 64
	maxParams      = 200
	maxParamsBytes = 64 << 10
)

// Declaration is what somebody sent, read.
type Declaration struct {
	verdict.Declaration // without the time of receipt; without an action id if none was given
	Body                []byte
	Warnings            []Warning
}

// Parse reads a declaration. Errors: [InvalidError] with everything that is wrong.
// The body is kept as it is and must not be changed any more.
func Parse(body []byte) (*Declaration, error) {
	d, problems := parse(body)
	if len(problems) > 0 {
		return nil, &InvalidError{Problems: problems}
	}
	return d, nil
}

func parse(body []byte) (*Declaration, []Problem) {
	if len(body) > maxBody {
		return nil, []Problem{{Message: tooLong(len(body), maxBody)}}
	}
	r := reader{in: jsontext.NewDecoder(bytes.NewReader(body)), to: &Declaration{Body: body}}
	if err := r.object(r.member); err != nil {
		return nil, []Problem{syntax(err)}
	}
	if err := r.end(); err != nil {
		return nil, []Problem{syntax(err)}
	}
	d := r.to
	if d.ContractID == "" && d.ActionType == "" && d.SubjectID == "" && len(r.problems) == 0 {
		r.problem("", "at least one of contract_id, action_type and subject_id must be there")
	}
	return d, r.problems
}

// reader reads one declaration. Its methods return an error for what is no JSON;
// everything else that is wrong is a problem, so that all of it is told at once.
type reader struct {
	in       *jsontext.Decoder
	to       *Declaration
	problems []Problem
}

func (r *reader) problem(field, format string, args ...any) {
	r.problems = append(r.problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) warn(code WarningCode, field, message string) {
	r.to.Warnings = append(r.to.Warnings, Warning{Code: code, Field: field, Message: message})
}

// errNoObject says that there is JSON, and no object.
var errNoObject = errors.New("a declaration is a JSON object")

// object reads the members of the next value, which must be an object.
func (r *reader) object(member func(name string) error) error {
	switch kind := r.in.PeekKind(); kind {
	case jsontext.KindBeginObject:
	case jsontext.KindInvalid:
		_, err := r.in.ReadToken()
		return err
	default:
		return errNoObject
	}
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	for r.in.PeekKind() != jsontext.KindEndObject {
		name, err := r.in.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.in.ReadToken()
	return err
}

// end reads that there is nothing after the value.
func (r *reader) end() error {
	_, err := r.in.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errors.New("there is something after the declaration")
	}
	return err
}

func (r *reader) member(name string) error {
	d := &r.to.Declaration
	switch name {
	case "action_id":
		return r.text(name, &d.ActionID, maxID)
	case "contract_id":
		return r.text(name, &d.ContractID, maxName)
	case "contract_version":
		return r.version(name, &d.ContractVersion)
	case "action_type":
		return r.text(name, &d.ActionType, maxName)
	case "subject_id":
		return r.text(name, &d.SubjectID, maxName)
	case "subject_kind":
		return r.text(name, &d.SubjectKind, maxName)
	case "agent_id":
		return r.text(name, &d.AgentID, maxName)
	case "workflow_id":
		return r.text(name, &d.WorkflowID, maxName)
	case "requested_at":
		return r.time(name, &d.RequestedAt)
	case "params":
		return r.params()
	case "channel":
		return r.text(name, &d.Channel, maxChannel)
	case "compensates":
		return r.text(name, &d.Compensates, maxID)
	}
	r.warn(UnknownField, name, "there is no such member; it is kept and plays no part")
	return r.in.SkipValue()
}

// scalar reads a value of a kind. ok is false for null, which counts as absent, and
// for another kind, which is a problem.
func (r *reader) scalar(name string, wanted jsontext.Kind) (token jsontext.Token, ok bool, err error) {
	kind := r.in.PeekKind()
	if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		r.problem(name, "has to be %s, not %s", noun(wanted), noun(kind))
		return jsontext.Token{}, false, r.in.SkipValue()
	}
	token, err = r.in.ReadToken()
	if err != nil || kind == jsontext.KindNull {
		return token, false, err
	}
	if kind != wanted {
		r.problem(name, "has to be %s, not %s", noun(wanted), noun(kind))
		return token, false, nil
	}
	return token, true, nil
}

func noun(kind jsontext.Kind) string {
	switch kind {
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

func tooLong(has, most int) string {
	return fmt.Sprintf("has %d bytes, at most %d are taken", has, most)
}

func (r *reader) text(name string, to *string, most int) error {
	token, ok, err := r.scalar(name, jsontext.KindString)
	if !ok || err != nil {
		return err
	}
	text := token.String()
	switch {
	case len(text) > most:
		r.problem(name, "%s", tooLong(len(text), most))
	case strings.ContainsRune(text, 0):
		r.problem(name, "has a character U+0000, which no text may have")
	case name == "action_id" && strings.ContainsFunc(text, unicode.IsControl):
		r.problem(name, "has control characters")
	case name == "action_id" && IsRef(text):
		r.problem(name, "has the form of the server's own ids; leave it out to get one")
	case name == "action_id" && (text == "pending" || text == "." || text == ".."):
		// The path of the action would be another's.
		r.problem(name, "%q names something else in a path; take another id", text)
	default:
		*to = text
	}
	return nil
}

func (r *reader) version(name string, to *int) error {
	token, ok, err := r.scalar(name, jsontext.KindNumber)
	if !ok || err != nil {
		return err
	}
	const most = 1<<53 - 1 // what every reader of JSON can hold
	n, err := strconv.ParseInt(token.String(), 10, 64)
	if err != nil || n < 0 || n > most {
		r.problem(name, "has to be a whole number from 1")
		return nil
	}
	*to = int(n)
	return nil
}

func (r *reader) time(name string, to *value.Instant) error {
	token, ok, err := r.scalar(name, jsontext.KindString)
	if !ok || err != nil {
		return err
	}
	at, err := value.ParseInstant(token.String())
	if err != nil {
		r.problem(name, "%s", timeProblem(token.String(), err))
		return nil
	}
	*to = at
	return nil
}

// timeProblem says what is wrong with a time without repeating it.
func timeProblem(text string, err error) string {
	if len(text) >= 19 && !strings.ContainsAny(text[min(len(text), 19):], "Zz+-") {
		return "a time needs a zone, such as 2026-11-02T12:00:00Z"
	}
	if strings.Contains(err.Error(), "years") {
		return "lies outside the years 1971 to 9998"
	}
	return "is no time; write it as in 2026-11-02T12:00:00Z"
}

// params reads the parameters: those that are values, and the names of the others.
func (r *reader) params() error {
	switch kind := r.in.PeekKind(); kind {
	case jsontext.KindNull:
		return r.in.SkipValue()
	case jsontext.KindBeginObject:
	case jsontext.KindInvalid:
		_, err := r.in.ReadToken()
		return err
	default:
		r.problem("params", "has to be an object, not %s", noun(kind))
		return r.in.SkipValue()
	}
	raw, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	if len(raw) > maxParamsBytes {
		r.problem("params", "%s", tooLong(len(raw), maxParamsBytes))
		return nil
	}
	inner := reader{in: jsontext.NewDecoder(bytes.NewReader(raw)), to: r.to}
	params, n := map[string]value.Value{}, 0
	err = inner.object(func(name string) error {
		n++
		one, err := inner.in.ReadValue()
		if err != nil {
			return err
		}
		var v value.Value
		switch err := v.UnmarshalJSONFrom(jsontext.NewDecoder(bytes.NewReader(one))); {
		case err != nil:
			r.warn(UnreadableParam, "params."+name, "is neither a text, a number, a boolean, an amount, a time nor a list of these; it is kept and counts as absent")
		case !v.IsMissing():
			params[name] = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n > maxParams {
		r.problem("params", "has %d members, at most %d are taken", n, maxParams)
	}
	if len(params) > 0 {
		r.to.Params = params
	}
	return nil
}

// syntax says what of a text is no JSON, and where.
func syntax(err error) Problem {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return Problem{Message: "this is not JSON: it ends too early"}
	}
	syntactic, is := errors.AsType[*jsontext.SyntacticError](err)
	if !is {
		return Problem{Message: err.Error()}
	}
	field := strings.Join(slices.Collect(syntactic.JSONPointer.Tokens()), ".")
	if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
		return Problem{Field: field, Message: "the member is there twice"}
	}
	return Problem{Field: field, Message: fmt.Sprintf("this is not JSON: %v, at byte %d", syntactic.Err, syntactic.ByteOffset)}
}
