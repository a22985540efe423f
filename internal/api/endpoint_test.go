package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
)

func (s sample) ask(e *endpoint) ask {
	return ask{method: e.method, path: s.path, credential: s.credential, body: s.body}
}

// eachEndpoint runs a test for every endpoint of the table.
func eachEndpoint(t *testing.T, run func(t *testing.T, e *endpoint, right ask)) {
	t.Helper()
	all := table()
	for i := range all {
		e := &all[i]
		s, there := samples[e.route()]
		if !there {
			t.Errorf("there is no sample of %s", e.route())
			continue
		}
		t.Run(e.route(), func(t *testing.T) {
			t.Parallel()
			run(t, e, s.ask(e))
		})
	}
}

func wantError(t *testing.T, g got, status int, code access.Code) {
	t.Helper()
	if g.status != status || g.error.Code != string(code) {
		t.Errorf("the answer is %d %s, want %d %s", g.status, g.body, status, code)
	}
}

func TestEveryEndpointAnswersWhatIsDescribed(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		if g := start(t, fakes(), nil).do(right); g.status != samples[e.route()].answers {
			t.Errorf("the answer is %d %s", g.status, g.body)
		}
	})
}

func TestWithoutACredentialNothingIsAnswered(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		if !e.need.credential {
			return
		}
		s := start(t, fakes(), nil)
		for name, credential := range map[string]string{"none": "-", "an unknown one": "nobody"} {
			right.credential = credential
			g := s.do(right)
			wantError(t, g, http.StatusUnauthorized, access.Unauthenticated)
			if g.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("with %s the challenge is %q", name, g.header.Get("WWW-Authenticate"))
			}
		}
		right.credential = "-"
		right.header = http.Header{"Cookie": {"__Host-session=owner; session=owner"}}
		wantError(t, s.do(right), http.StatusUnauthorized, access.Unauthenticated)
	})
}

// A body that is no JSON at all shows that the need is looked at before it.
const unreadable = "{{{"

func TestAScopeThatIsMissingIsNamedBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		if e.need.scope == 0 {
			return
		}
		if e.takesBody() {
			right.body = unreadable
		}
		s := start(t, fakes(), nil)
		right.credential = "key-without-" + e.need.scope.String()
		g := s.do(right)
		wantError(t, g, http.StatusForbidden, access.InsufficientScope)
		if g.error.RequiredScope != e.need.scope.String() || g.header.Get("WWW-Authenticate") != "" {
			t.Errorf("the required scope is %q, and a key is challenged with %q", g.error.RequiredScope, g.header.Get("WWW-Authenticate"))
		}
		if e.need.scope == access.FactsWrite || e.need.scope == access.UsageRead {
			return // no OAuth token can have the one, and the sample has the other
		}
		right.credential = "token"
		g = s.do(right)
		wantError(t, g, http.StatusForbidden, access.InsufficientScope)
		if want := fmt.Sprintf("Bearer error=%q, scope=%q", "insufficient_scope", e.need.scope.String()); g.header.Get("WWW-Authenticate") != want {
			t.Errorf("an OAuth token is challenged with %q, want %q", g.header.Get("WWW-Authenticate"), want)
		}
	})
}

func TestWhatTakesARoleIsForMembersOfThatRole(t *testing.T) {
	t.Parallel()
	roles := []string{"viewer", "analyst", "admin", "owner"}
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		if e.need.permission == 0 && !e.need.member {
			return
		}
		if e.takesBody() {
			right.body = unreadable
		}
		refused := func(credential string, code access.Code) {
			t.Helper()
			right.credential = credential
			wantError(t, start(t, fakes(), nil).do(right), http.StatusForbidden, code)
		}
		refused("full-key", access.Forbidden)
		refused("token", access.Forbidden)
		if e.need.member {
			return
		}
		least, again := leastRole(e.need.permission)
		for i, role := range roles {
			if i+1 < int(least) {
				refused(role, access.Forbidden)
			}
		}
		if again && !e.need.listing {
			refused("stale-owner", access.ConfirmationRequired)
		}
	})
}

func TestAnotherMethodIsAnsweredWithThoseThatThereAre(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		var others []string
		for _, other := range table() {
			if other.path == e.path {
				others = append(others, other.method)
			}
		}
		s := start(t, fakes(), nil)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(others, method) {
				continue
			}
			right.method, right.credential = method, "-"
			g := s.do(right)
			wantError(t, g, http.StatusMethodNotAllowed, access.InvalidRequest)
			for _, other := range others {
				if !slices.Contains(strings.Split(g.header.Get("Allow"), ", "), other) {
					t.Errorf("Allow is %q and lacks %s", g.header.Get("Allow"), other)
				}
			}
		}
	})
}

func TestABodyMustBeJSONThatIsNotTooLarge(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		s := start(t, fakes(), nil)
		if !e.takesBody() {
			right.body = "{}"
			g := s.do(right)
			wantError(t, g, http.StatusBadRequest, access.InvalidRequest)
			return
		}
		for name, header := range map[string]http.Header{
			"another media type": {"Content-Type": {"text/plain"}},
			"a form":             {"Content-Type": {"application/x-www-form-urlencoded"}},
			"two media types":    {"Content-Type": {"application/json", "text/plain"}},
			"none":               {"Content-Type": nil},
			"another charset":    {"Content-Type": {"application/json; charset=utf-16"}},
			"compression":        {"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}},
		} {
			one := right
			one.header = header
			if g := s.do(one); g.status != http.StatusUnsupportedMediaType {
				t.Errorf("%s is answered with %d %s", name, g.status, g.body)
			}
		}
		fine := right
		fine.header = http.Header{"Content-Type": {`Application/JSON; charset="UTF-8"`}, "Content-Encoding": {"identity"}}
		if g := s.do(fine); g.status >= 300 {
			t.Errorf("JSON that says so in other letters is answered with %d %s", g.status, g.body)
		}
		large := right
		large.body = strings.Repeat(" ", int(e.body.limitBytes)+1)
		g := s.do(large)
		wantError(t, g, http.StatusRequestEntityTooLarge, access.InvalidRequest)
		if g.error.LimitBytes != e.body.limitBytes {
			t.Errorf("the limit is told as %d, and is %d", g.error.LimitBytes, e.body.limitBytes)
		}
	})
}

func TestABodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		if !e.takesBody() {
			return
		}
		s := start(t, fakes(), nil)
		first, _, _ := strings.Cut(right.body[2:], `"`) // the name of the first member
		for name, one := range map[string]struct{ body, field string }{
			"a member that nobody knows": {strings.TrimSuffix(right.body, "}") + `,"surprise":1}`, "surprise"},
			"a member twice":             {strings.TrimSuffix(right.body, "}") + fmt.Sprintf(`,%q:null}`, first), first},
			"a list":                     {"[" + right.body + "]", ""},
			"no JSON":                    {unreadable, ""},
			"two objects":                {right.body + right.body, ""},
			"half an object":             {right.body[:len(right.body)-1], ""},
			"another encoding":           {strings.Replace(right.body, `":"`, "\":\"\xff", 1), ""},
		} {
			if name == "a member that nobody knows" && e.path == "/v1/actions" ||
				name == "another encoding" && !strings.Contains(right.body, `":"`) {
				continue // the one is kept there, and nothing to change in the other
			}
			asked := right
			asked.body = one.body
			g := s.do(asked)
			if g.status != http.StatusBadRequest || g.error.Code != string(access.InvalidRequest) {
				t.Errorf("%s is answered with %d %s", name, g.status, g.body)
			}
			field := g.error.Field
			if len(g.error.Errors) > 0 {
				field = g.error.Errors[0].Field
			}
			if one.field != "" && field != one.field {
				t.Errorf("%s is said to be about %q, want %q", name, field, one.field)
			}
		}
	})
}

func withQuery(path, more string) string {
	if strings.Contains(path, "?") {
		return path + "&" + more
	}
	return path + "?" + more
}

func TestQueryParametersAreKnownSingleAndNotEmpty(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		s := start(t, fakes(), nil)
		refused := func(query, field string) {
			t.Helper()
			asked := right
			asked.path = withQuery(right.path, query)
			g := s.do(asked)
			wantError(t, g, http.StatusBadRequest, access.InvalidRequest)
			if g.error.Field != field {
				t.Errorf("%s is said to be about %q, want %q", query, g.error.Field, field)
			}
		}
		if e.page {
			return // a page takes none, and is checked by its own tests
		}
		refused("surprise=1", "surprise")
		for _, p := range e.query {
			if !strings.Contains(right.path, p.name+"=") {
				refused(p.name+"=", p.name)
				refused(p.name+"=a%00b", p.name)
				refused(p.name+"=%ff", p.name)
			}
			refused(p.name+"=1&"+p.name+"=1", p.name)
		}
	})
}

// Whatever is documented can happen: each status that the description names is
// brought about.
func TestEveryDocumentedStatusIsReached(t *testing.T) {
	t.Parallel()
	eachEndpoint(t, func(t *testing.T, e *endpoint, right ask) {
		reached := map[int]bool{}
		note := func(s *surface, a ask) {
			g := s.do(a)
			reached[g.status] = true
		}
		note(start(t, fakes(), nil), right)
		note(start(t, (&fake{replayed: true}).services(), nil), right)
		for status, err := range map[int]error{
			http.StatusNotFound: store.ErrNotFound, http.StatusConflict: &taken{}, http.StatusUnauthorized: &access.UnknownKeyError{},
			http.StatusPaymentRequired: &plan.RequiredError{Feature: plan.Drafts, Plan: "small"},
			http.StatusTooManyRequests: &access.ThrottleError{RetryAfter: 1}, http.StatusInternalServerError: errors.New("a fault"),
			http.StatusServiceUnavailable: fmt.Errorf("look: %w", &store.UnavailableError{Err: errors.New("gone")}),
		} {
			if slices.Contains(e.failures(), status) {
				note(start(t, (&fake{err: err}).services(), nil), right)
			}
		}
		s := start(t, fakes(), func(o *Options) { o.Pace = Pace{PerSecond: 1, Burst: 1} })
		note(s, right)
		note(s, right)
		for _, credential := range []string{"-", "key-without-" + e.need.scope.String(), "full-key"} {
			other := right
			other.credential = credential
			note(start(t, fakes(), nil), other)
		}
		other := right
		other.path = withQuery(right.path, "surprise=1")
		note(start(t, fakes(), nil), other)
		if e.takesBody() {
			large, odd := right, right
			large.body = strings.Repeat(" ", int(e.body.limitBytes)+1)
			odd.header = http.Header{"Content-Type": {"text/plain"}}
			note(start(t, fakes(), nil), large)
			note(start(t, fakes(), nil), odd)
		}
		broken := start(t, (&fake{oops: true}).services(), nil)
		broken.server.services.Authenticator = panicking{}
		note(broken, right)
		want := e.failures()
		for _, a := range e.answers {
			want = append(want, a.status)
		}
		slices.Sort(want)
		for _, status := range want {
			if e.neverFails() && status == http.StatusInternalServerError {
				continue // it asks nobody who could
			}
			if !reached[status] {
				t.Errorf("%d is documented and was not reached; reached were %v", status, slices.Sorted(maps.Keys(reached)))
			}
		}
	})
}

// neverFails says that an endpoint asks no service.
func (e *endpoint) neverFails() bool {
	return slices.Contains([]string{"/healthz", "/v1/reason-codes", openAPIPath, docsPath}, e.path)
}

// taken is an error of the domain with a code of a conflict.
type taken struct{}

func (*taken) Error() string     { return "it is taken" }
func (*taken) Code() access.Code { return codeConflict }

type panicking struct{ Authenticator }

func TestAPanicIsAFaultOfTheServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	s := start(t, (&fake{oops: true}).services(), nil)
	g := s.do(samples["GET /v1/workspace"].ask(&endpoint{method: "GET"}))
	wantError(t, g, http.StatusInternalServerError, codeInternal)
	if strings.Contains(string(g.body), "oops") {
		t.Errorf("the answer tells what went wrong: %s", g.body)
	}
	event := s.events[0]
	if event.Err == nil || !strings.Contains(event.Err.Error(), "oops") || len(event.Stack) == 0 {
		t.Errorf("whoever runs the server is told %v with a stack of %d bytes", event.Err, len(event.Stack))
	}
}

func TestThatWhoeverAskedIsGoneIsTold(t *testing.T) {
	t.Parallel()
	s := start(t, (&fake{err: context.Canceled}).services(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/workspace", http.NoBody)
	r.Header.Set("Authorization", "Bearer owner")
	wantError(t, s.send(r), http.StatusServiceUnavailable, codeUnavailable)
	if !s.events[0].Gone {
		t.Errorf("it is told as %+v", s.events[0])
	}
}
