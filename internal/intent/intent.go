package intent

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/deed-dev/deed/internal/redact/lexer"
	"github.com/deed-dev/deed/internal/value"
	"github.com/go-json-experiment/json/jsontext"
)

// Call is a call of a tool as it was seen.
type Call struct {
	Tool      string        // params.name, decoded
	Params    []byte        // the JSON text of the params of tools/call
	RequestID []byte        // the JSON token of the request's id; empty if there is none
	Session   string        // empty: the default id is mcp:{tool}:{request id}
	At        value.Instant // when it was seen, which is before it has any effect
}

// Intent is the declaration of an action.
type Intent struct {
	ActionID, ContractID, Tool, SubjectID string
	// Body is what POST /v1/actions takes. The same call gives the same bytes.
	Body []byte
}

// Intent is what a call declares. An error is a [*NotDeclarable].
func (m *Mapping) Intent(c Call) (Intent, error) {
	t, mapped := m.Tool(c.Tool)
	if !mapped {
		return Intent{}, &NotDeclarable{Reason: Unmapped}
	}
	return m.Declare(t, c)
}

// Declare is [Mapping.Intent] for a tool that was found already, whatever the
// call's own name is.
func (m *Mapping) Declare(t *Tool, c Call) (Intent, error) {
	requestID, ok := idText(c.RequestID)
	if !ok {
		return Intent{}, &NotDeclarable{Reason: NoRequestID}
	}
	found, err := t.plan.find(c.Params)
	if err != nil {
		return Intent{}, err
	}
	d := declaration{tool: t, call: c, found: found, requestID: requestID}
	subject, err := d.need(t.subject, NoSubject)
	if err != nil {
		return Intent{}, err
	}
	if len(subject) > maxText {
		return Intent{}, &NotDeclarable{Reason: TooLong, Path: d.path(t.subject)}
	}
	id, err := d.actionID()
	if err != nil {
		return Intent{}, err
	}
	compensates, err := d.compensates()
	if err != nil {
		return Intent{}, err
	}
	params, err := d.params()
	if err != nil {
		return Intent{}, err
	}
	body := object{}
	body.text("action_id", id)
	body.text("contract_id", t.ContractID)
	body.raw("contract_version", t.ContractVersion)
	body.text("subject_id", subject)
	body.text("subject_kind", t.SubjectKind)
	body.text("action_type", t.ActionType)
	body.text("agent_id", m.AgentID)
	body.text("workflow_id", m.WorkflowID)
	body.text("requested_at", c.At.String())
	body.raw("params", string(params))
	body.text("channel", "mcp")
	body.text("compensates", compensates)
	return Intent{ActionID: id, ContractID: t.ContractID, Tool: c.Tool, SubjectID: subject, Body: body.end()}, nil
}

// idText is the id of a request as a text: what a string says, or a number as
// it is spelled. Null is no id, because no answer could be told by it.
func idText(token []byte) (id string, ok bool) {
	token = bytes.TrimSpace(token)
	switch {
	case len(token) == 0 || string(token) == "null":
		return "", false
	case token[0] == '"':
		return decode(token), true
	}
	return strings.ToValidUTF8(string(token), "\ufffd"), true
}

// declaration is one call on its way to an intent.
type declaration struct {
	tool      *Tool
	call      Call
	found     []span
	requestID string
}

func (d *declaration) path(place int) string { return d.tool.places[place].Path.Text }

func (d *declaration) bytes(place int) []byte {
	at := d.found[place]
	return d.call.Params[at.start:at.end]
}

// scalar is what a place holds as a text: a number as it is spelled, true or
// false, what a string says. It is empty where there is nothing, null or an
// empty string.
func (d *declaration) scalar(place int) (string, error) {
	at := d.found[place]
	raw := d.bytes(place)
	switch {
	case !at.found():
		return "", nil
	case at.kind == lexer.Open:
		return "", &NotDeclarable{Reason: NotScalar, Path: d.path(place)}
	case at.kind == lexer.String:
		return decode(raw), nil
	case string(raw) == "null":
		return "", nil
	case !jsontext.Value(raw).IsValid():
		return "", &NotDeclarable{Reason: Unreadable, Path: d.path(place)}
	}
	return string(raw), nil
}

// need is a scalar without which there is nothing to declare.
func (d *declaration) need(place int, absent Reason) (string, error) {
	text, err := d.scalar(place)
	if err == nil && text == "" {
		err = &NotDeclarable{Reason: absent, Path: d.path(place)}
	}
	return text, err
}

func (d *declaration) actionID() (string, error) {
	var id string
	if len(d.tool.actionID.texts) == 0 {
		id = DefaultActionID(d.call.Tool, d.call.Session, d.requestID)
	} else {
		var b strings.Builder
		for i, text := range d.tool.actionID.texts {
			b.WriteString(text)
			if i == len(d.tool.actionID.places) {
				break
			}
			filled, err := d.need(d.tool.actionID.places[i], NoPlaceholder)
			if err != nil {
				return "", err
			}
			b.WriteString(filled)
		}
		id = b.String()
	}
	switch {
	case len(id) > maxActionID:
		return "", &NotDeclarable{Reason: TooLong, Path: "action_id"}
	case strings.ContainsFunc(id, isControl) || isServersID(id):
		return "", &NotDeclarable{Reason: BadActionID}
	}
	return id, nil
}

// DefaultActionID is the id of a call whose tool has no template. Without a
// session two of them may share it.
func DefaultActionID(tool, session, requestID string) string {
	if session == "" {
		return "mcp:" + tool + ":" + requestID
	}
	return "mcp:" + tool + ":" + session + ":" + requestID
}

func isControl(r rune) bool { return unicode.IsControl(r) }

// isServersID says that an id has the form of those that the server gives out,
// act_ and 26 digits and small letters; it refuses such.
func isServersID(id string) bool {
	rest, ok := strings.CutPrefix(id, "act_")
	return ok && len(rest) == 26 && !strings.ContainsFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
}

func (d *declaration) compensates() (string, error) {
	if d.tool.compensates == none {
		return "", nil
	}
	text, err := d.scalar(d.tool.compensates)
	if err == nil && len(text) > maxActionID {
		err = &NotDeclarable{Reason: TooLong, Path: d.path(d.tool.compensates)}
	}
	return text, err
}

// params are the values that the contract looks at, spelled as they were.
func (d *declaration) params() ([]byte, error) {
	all := object{}
	for i, name := range d.tool.Params {
		place := d.tool.params[i]
		if !d.found[place].found() {
			continue
		}
		raw, err := d.value(place)
		if err != nil {
			return nil, err
		}
		all.raw(name, string(raw))
	}
	all.raw("mcp_tool", string(quote(nil, d.call.Tool)))
	all.raw("mcp_request_id", string(quote(nil, d.requestID)))
	params := all.end()
	if len(params) > maxParamsLen {
		return nil, &NotDeclarable{Reason: TooLong, Path: "params"}
	}
	return params, nil
}

// value is what a place holds, as it was spelled. Only a string that the
// server could not read is spelled anew.
func (d *declaration) value(place int) ([]byte, error) {
	raw := d.bytes(place)
	switch {
	case len(raw) > maxParamsLen:
		return nil, &NotDeclarable{Reason: TooLong, Path: d.path(place)}
	case jsontext.Value(raw).IsValid():
		return raw, nil
	case d.found[place].kind == lexer.String:
		return quote(nil, decode(raw)), nil
	case jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)):
		return nil, &NotDeclarable{Reason: Twice, Path: d.path(place)}
	}
	return nil, &NotDeclarable{Reason: Unreadable, Path: d.path(place)}
}

// object writes a JSON object. Members without a value are left out.
type object struct{ written []byte }

func (o *object) name(name string) {
	if o.written == nil {
		o.written = append(o.written, '{')
	} else {
		o.written = append(o.written, ',')
	}
	o.written = append(quote(o.written, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.written = quote(o.written, value)
	}
}

func (o *object) raw(name, value string) {
	if value != "" {
		o.name(name)
		o.written = append(o.written, value...)
	}
}

func (o *object) end() []byte { return append(o.written, '}') }

// quote appends a text as a JSON string. A byte that is no UTF-8 becomes the
// replacement character.
func quote(to []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(to, text)
	if err != nil {
		quoted, _ = jsontext.AppendQuote(to, strings.ToValidUTF8(text, "\ufffd"))
	}
	return quoted
}
