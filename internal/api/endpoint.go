package api

import (
	"net/http"
	"reflect"

	"github.com/deed-dev/deed/internal/access"
)

// endpoint is one row of the table: all that is to be known of a request and its
// answer before it arrives.
type endpoint struct {
	method, path string // path is a pattern of [http.ServeMux], without the method
	summary      string // for people, a line without a full stop
	need         need
	query        []param
	body         body
	answers      []answer
	errors       []int // statuses that only some endpoints may give: 400, 404, 409
	page         bool  // answers something else than JSON
	heavy        bool  // reads so much that only a few run at a time
	serve        func(*call) (reply, error)
}

// need is what a request must be allowed to. The zero need lets everybody in.
type need struct {
	credential bool
	scope      access.Scope
	also       access.Scope // a second one, or none
	permission access.Permission
	member     bool // a signed-in member, in whatever role
	// proposal lets a key in that holds contracts:draft and nothing else, where a
	// member may save a draft.
	proposal bool
	// listing asks for no fresh proof of presence, where only looking is allowed.
	listing bool
}

// The ways to state a need.
func nothing() need                      { return need{} }
func anybody() need                      { return need{credential: true} }
func signedInMember() need               { return need{credential: true, member: true} }
func scoped(s access.Scope) need         { return need{credential: true, scope: s} }
func permitted(p access.Permission) need { return need{credential: true, permission: p} }
func mayList(p access.Permission) need   { return need{credential: true, permission: p, listing: true} }
func (n need) orProposal() need          { n.proposal = true; return n }
func (e *endpoint) takesBody() bool      { return e.body.kind != nil }
func (e *endpoint) route() string        { return e.method + " " + e.path }
func jsonBody[T any](limit int64) body   { return body{kind: reflect.TypeFor[T](), limitBytes: limit} }

func openBody[T any](limit int64) body {
	return body{kind: reflect.TypeFor[T](), limitBytes: limit, open: true}
}
func ok[T any]() []answer          { return []answer{{http.StatusOK, reflect.TypeFor[T]()}} }
func created[T any]() []answer     { return []answer{{http.StatusCreated, reflect.TypeFor[T]()}} }
func createdOrOK[T any]() []answer { return append(ok[T](), created[T]()...) }
func noContent() []answer          { return []answer{{http.StatusNoContent, nil}} }

// and asks for a second scope.
func (n need) and(s access.Scope) need { n.also = s; return n }

// body is what a request carries.
type body struct {
	kind       reflect.Type // what describes it; nil for none
	limitBytes int64
	// open says that members which nobody knows are taken, and that the service
	// reads the text itself.
	open bool
}

// answer is a status with what it carries.
type answer struct {
	status int
	kind   reflect.Type // nil for nothing
}

// reply is what a handler answers.
type reply struct {
	status   int // 0 is 200
	location string
	content  any
}

// Sizes of bodies.
const (
	usualBytes = 256 << 10
	batchBytes = 8 << 20
	// A contract has at most 256 KiB, and JSON writes a character of it in up to six.
	contractBytes = 1 << 20
)
