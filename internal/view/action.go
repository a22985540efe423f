package view

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Action is an action as it was declared.
type Action struct {
	ID              store.Ref      `json:"id" jsonschema:"the server's own id"`
	ActionID        string         `json:"action_id"`
	ContractID      string         `json:"contract_id,omitzero"`
	ContractVersion int            `json:"contract_version,omitzero" jsonschema:"noted, not obeyed"`
	SubjectID       string         `json:"subject_id,omitzero"`
	SubjectKind     string         `json:"subject_kind,omitzero"`
	ActionType      string         `json:"action_type,omitzero"`
	AgentID         string         `json:"agent_id,omitzero"`
	WorkflowID      string         `json:"workflow_id,omitzero"`
	RequestedAt     value.Instant  `json:"requested_at,omitzero"`
	Params          jsontext.Value `json:"params,omitzero" jsonschema:"as they came, digit for digit"`
	Channel         string         `json:"channel,omitzero"`
	Compensates     string         `json:"compensates,omitzero"`
	ReceivedAt      value.Instant  `json:"received_at"`
	DeclaredBy      access.Actor   `json:"declared_by"`
	Revision        int            `json:"revision" jsonschema:"of the declaration, from 1"`
}

// ActionOf is an action by its first declaration, with the number of its latest
// revision.
func ActionOf(a *store.Action) (*Action, error) {
	v, err := DeclarationOf(&a.Declared)
	if err != nil {
		return nil, err
	}
	v.Revision = max(a.Revisions, v.Revision)
	return v, nil
}

// DeclarationOf is one revision of a declaration.
func DeclarationOf(d *store.Declared) (*Action, error) {
	params, err := paramsOf(d.Body)
	if err != nil {
		return nil, fmt.Errorf("read the declaration of %s as it came: %w", d.Ref, err)
	}
	said := &d.Declaration
	return &Action{
		ID: d.Ref, ActionID: said.ActionID, ContractID: said.ContractID, ContractVersion: said.ContractVersion,
		SubjectID: said.SubjectID, SubjectKind: said.SubjectKind, ActionType: said.ActionType,
		AgentID: said.AgentID, WorkflowID: said.WorkflowID, RequestedAt: said.RequestedAt, Params: params,
		Channel: said.Channel, Compensates: said.Compensates, ReceivedAt: said.ReceivedAt,
		DeclaredBy: d.By, Revision: d.Revision,
	}, nil
}

// paramsOf finds the params in what was sent, so that no digit of them is lost.
// A null counts as absent. A body that was erased has none.
func paramsOf(body []byte) (jsontext.Value, error) {
	if len(body) == 0 {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		if name.String() != "params" {
			if err := d.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		params, err := d.ReadValue()
		if err != nil || params.Kind() == jsontext.KindNull {
			return nil, err
		}
		params = params.Clone()
		return params, params.Compact()
	}
	return nil, nil
}

// ActionName is how a batch's answer names an action.
type ActionName struct {
	ID       store.Ref `json:"id"`
	ActionID string    `json:"action_id"`
}

// NameOf is an action's two ids.
func NameOf(a *store.Action) ActionName {
	return ActionName{ID: a.Ref, ActionID: a.Declaration.ActionID}
}

// ActionBrief is how the list of pending actions names one.
type ActionBrief struct {
	ID          store.Ref `json:"id"`
	ActionID    string    `json:"action_id"`
	ContractID  string    `json:"contract_id,omitzero"`
	SubjectID   string    `json:"subject_id,omitzero"`
	SubjectKind string    `json:"subject_kind,omitzero"`
}

// BriefOf is an action's ids, contract and subject.
func BriefOf(a *store.Action) ActionBrief {
	d := &a.Declaration
	return ActionBrief{ID: a.Ref, ActionID: d.ActionID, ContractID: d.ContractID, SubjectID: d.SubjectID, SubjectKind: d.SubjectKind}
}

// Links are where more of an action is.
type Links struct {
	Self     string `json:"self" jsonschema:"path below the server's address"`
	Contract string `json:"contract,omitzero" jsonschema:"likewise, if a contract governs"`
	Page     string `json:"page,omitzero" jsonschema:"for people"`
}

// Site is where the server is reached from outside: "https://deed.example.com",
// without a slash at its end; empty if that is not known.
type Site string

// Action is where an action is.
func (s Site) Action(a *store.Action) Links {
	l := Links{Self: ActionPath(a.Ref)}
	if a.Version > 0 {
		l.Contract = VersionPath(a.Declaration.ContractID, a.Version)
	}
	l.Page = s.Page("/actions/" + url.PathEscape(string(a.Ref)))
	return l
}

// Page is a page for people, of a path that begins with a slash; empty if it is not
// known where the server is reached.
func (s Site) Page(path string) string {
	if s == "" {
		return ""
	}
	return string(s) + path
}

// ActionPath is where an action is below the server's address.
func ActionPath(ref store.Ref) string { return "/v1/actions/" + url.PathEscape(string(ref)) }

// VersionPath is where a contract's version is.
func VersionPath(contractID string, version int) string {
	return "/v1/contracts/" + url.PathEscape(contractID) + "/versions/" + strconv.Itoa(version)
}

// Revision is a settled verdict in an action's history.
type Revision struct {
	Revision    int            `json:"revision"`
	Status      verdict.Status `json:"status"`
	Badge       verdict.Result `json:"badge"`
	Outcome     Lens           `json:"outcome"`
	Conformance Lens           `json:"conformance"`
	SettledAt   value.Instant  `json:"settled_at"`
	Digest      string         `json:"digest"`
	Supersedes  string         `json:"supersedes,omitzero"`
	Notes       []ReasonForm   `json:"notes,omitzero"`
}

// RevisionOf is a settled verdict without its checks.
func RevisionOf(v *verdict.Verdict) Revision {
	r := Revision{
		Revision: v.Revision, Status: v.Status, Badge: v.Badge,
		Outcome: lensOf(v.Outcome), Conformance: lensOf(v.Conformance),
		SettledAt: v.SettledAt, Digest: v.Digest(), Supersedes: v.Supersedes,
	}
	if v.Supersedes != "" {
		for _, n := range v.Notes {
			r.Notes = append(r.Notes, ReasonOf(n))
		}
	}
	return r
}

// ReasonOf is a reason with its words.
func ReasonOf(r verdict.Reason) ReasonForm {
	entry, _ := verdict.Lookup(r.Code)
	return ReasonForm{About: r.About, Code: r.Code, Fact: r.Fact, Label: entry.Label, Next: entry.Next, Source: r.Source}
}

// Warning is something odd about a declaration that was recorded all the same.
type Warning struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitzero" jsonschema:"the member that it is about, a path with dots"`
	Message string `json:"message"`
}

// Allowance is what the plan includes in a period, and what is recorded in it.
type Allowance struct {
	Plan     string `json:"plan"`
	Period   string `json:"period" jsonschema:"a month"`
	Recorded int64  `json:"recorded"`
	Included *int64 `json:"included" jsonschema:"null where there is no limit"`
	Over     bool   `json:"over"`
}
