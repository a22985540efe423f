package client

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/remote"
)

// Actions declares actions and reads their verdicts. It is safe for many
// goroutines.
type Actions struct {
	conn     *remote.Conn
	failOpen bool
}

// NewActions makes one for the server at an address, with an API key that holds
// actions:record and actions:read, or only one of these. Errors: an address or a
// key that cannot be; nothing is connected to yet.
func NewActions(address, key string, options ...Option) (*Actions, error) {
	o := gather(options)
	conn, err := open(address, key, o)
	if err != nil {
		return nil, err
	}
	return &Actions{conn: conn, failOpen: o.failOpen}, nil
}

// Action is what an agent is about to do. At least one of ContractID, Type and
// SubjectID must be there.
type Action struct {
	ID          string         `json:"action_id,omitempty"` // unique in the workspace; random if empty
	ContractID  string         `json:"contract_id,omitempty"`
	Type        string         `json:"action_type,omitempty"` // such as refund_order
	SubjectID   string         `json:"subject_id,omitempty"`
	SubjectKind string         `json:"subject_kind,omitempty"`
	AgentID     string         `json:"agent_id,omitempty"`
	WorkflowID  string         `json:"workflow_id,omitempty"`
	RequestedAt time.Time      `json:"requested_at,omitzero"`
	Params      map[string]any `json:"params,omitempty"` // see [Money]; numbers best as json.Number
	Channel     string         `json:"channel,omitempty"`
	Compensates string         `json:"compensates,omitempty"` // the id of the action that it undoes
}

// Money is an amount for [Action.Params] and [Fact.Attrs]: an exact decimal and
// the code of its currency.
func Money(amount, currency string) map[string]string {
	return map[string]string{"amount": amount, "currency": currency}
}

// NewActionID makes an id that no other action has: for those who need it before
// they declare, as an idempotency key for instance.
func NewActionID() string { return "go:" + rand.Text() }

// named is the action with an id, so that it can be sent twice.
func (a Action) named() Action {
	if a.ID == "" {
		a.ID = NewActionID()
	}
	if a.RequestedAt.IsZero() {
		a.RequestedAt = time.Now()
	}
	a.RequestedAt = a.RequestedAt.UTC().Truncate(time.Microsecond)
	if a.Channel == "" {
		a.Channel = "sdk"
	}
	return a
}

// Declare tells the server of an action before it is done. Once it returns
// without an error, the declaration is kept durably. Declaring the same again is
// a replay; the same id with another content keeps the first, and
// [Declared.Recorded] says Changed. Errors: [*Error], [*UnreachableError], the
// context's.
func (a *Actions) Declare(ctx context.Context, action Action) (*Declared, error) {
	declared := new(Declared)
	if err := a.declare(ctx, action.named(), declared); err != nil {
		return nil, err
	}
	return declared, nil
}

func (a *Actions) declare(ctx context.Context, action Action, into *Declared) error {
	_, err := a.conn.Call(ctx, http.MethodPost, "/v1/actions", nil, action, into)
	return told(err)
}

// MaxBatch is how many actions [Actions.DeclareAll] and facts [Evidence.Push]
// send in one request.
const MaxBatch = 1000

// DeclareAll declares many actions, up to [MaxBatch] in one transaction. Of each
// such part either all are kept or none. It returns what the server said of those
// that were kept, in their order, also beside an error.
func (a *Actions) DeclareAll(ctx context.Context, actions ...Action) ([]Declared, error) {
	var all []Declared
	for len(actions) > 0 {
		part := make([]Action, 0, MaxBatch)
		for _, action := range actions[:min(MaxBatch, len(actions))] {
			part = append(part, action.named())
		}
		actions = actions[len(part):]
		var answer struct{ Results []Declared }
		_, err := a.conn.Call(ctx, http.MethodPost, "/v1/actions:batch", nil, map[string]any{"actions": part}, &answer)
		if err != nil {
			return all, told(err)
		}
		all = append(all, answer.Results...)
	}
	return all, nil
}

// Get reads one action with its verdict, by its id or the server's. Error:
// [*Error] with the code not_found.
func (a *Actions) Get(ctx context.Context, ref string) (*Declared, error) {
	path, query := "/v1/actions/"+url.PathEscape(ref), url.Values(nil)
	if ref == "pending" || ref == "." || ref == ".." {
		// As a path these would mean something else.
		path, query = "/v1/actions", url.Values{"action_id": {ref}, "limit": {"1"}}
		var list struct{ Actions []Declared }
		if _, err := a.conn.Call(ctx, http.MethodGet, path, query, nil, &list); err != nil {
			return nil, told(err)
		}
		if len(list.Actions) == 0 {
			return nil, &Error{Status: http.StatusNotFound, Code: "not_found", Message: "no such action in this workspace"}
		}
		path, query = "/v1/actions/"+url.PathEscape(list.Actions[0].Action.ServerID), nil
	}
	declared := new(Declared)
	if _, err := a.conn.Call(ctx, http.MethodGet, path, query, nil, declared); err != nil {
		return nil, told(err)
	}
	return declared, nil
}

// Query narrows a list. Empty members do not.
type Query struct {
	ActionID, ContractID, Type, WorkflowID, AgentID, SubjectID, SubjectKind string

	Verdict Result // of the badge, or of Lens
	Lens    string // "outcome" or "conformance"
	Status  Status
	Period  string // "2026-11", "last 7 days", or two times with ".." between them
}

func (q Query) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"action_id": q.ActionID, "contract_id": q.ContractID, "action_type": q.Type, "workflow_id": q.WorkflowID,
		"agent_id": q.AgentID, "subject_id": q.SubjectID, "subject_kind": q.SubjectKind,
		"verdict": string(q.Verdict), "lens": q.Lens, "status": string(q.Status), "period": q.Period,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// List goes through actions, the newest first, reading on as it is asked to. It
// ends after the first error.
func (a *Actions) List(ctx context.Context, q Query) iter.Seq2[Declared, error] {
	return a.pages(ctx, "/v1/actions", q.values())
}

// Pending goes through the actions that are not settled, the one that settles
// first first, with all that they wait for. Verdict, Lens, Status and Period of
// the query must be empty.
func (a *Actions) Pending(ctx context.Context, q Query) iter.Seq2[Declared, error] {
	return a.pages(ctx, "/v1/actions/pending", q.values())
}

func (a *Actions) pages(ctx context.Context, path string, query url.Values) iter.Seq2[Declared, error] {
	query.Set("limit", strconv.Itoa(200))
	return func(yield func(Declared, error) bool) {
		for {
			var page struct {
				Actions []Declared
				Next    string `json:"next_cursor"`
			}
			if _, err := a.conn.Call(ctx, http.MethodGet, path, query, nil, &page); err != nil {
				yield(Declared{}, told(err))
				return
			}
			for i := range page.Actions {
				if !yield(page.Actions[i], nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// Do declares an action and then does it. If it cannot be declared, act does not
// run, unless [FailOpen] was chosen: then act runs with the action all the same,
// and it is declared afterwards, with the time it was requested, as a late one.
//
// act gets the action with its id, which is best passed on as idempotency key, so
// that the system of record can tell whose the effect is. The error is act's, or
// why it could not be declared, or both joined; the declaration is nil if it could
// not be declared.
func (a *Actions) Do(ctx context.Context, action Action, act func(context.Context, Action) error) (*Declared, error) {
	action = action.named()
	declared := new(Declared)
	failed := a.declare(ctx, action, declared)
	if failed != nil && (!a.failOpen || ctx.Err() != nil) {
		return nil, failed
	}
	done := act(ctx, action)
	if failed != nil {
		if failed = a.declare(context.WithoutCancel(ctx), action, declared); failed != nil {
			return nil, errors.Join(done, failed)
		}
	}
	return declared, done
}
