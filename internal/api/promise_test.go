package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// errorExamples are the errors that docs/api-actions.md shows.
func errorExamples(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/api-actions.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(string(page), -1) {
		if strings.HasPrefix(block[1], "{\n  \"error\"") {
			found = append(found, block[1])
		}
	}
	if len(found) != 3 {
		t.Fatalf("the page shows %d errors", len(found))
	}
	return found
}

func TestErrorsAreThoseThatThePageShows(t *testing.T) {
	t.Parallel()
	pages := errorExamples(t)
	long := fmt.Sprintf(`{"long":%q}`, strings.Repeat("x", 70110-len(`{"long":""}`)))
	for i, one := range []struct {
		services Services
		ask      ask
	}{
		{fakes(), ask{
			credential: "full-key", path: "/v1/actions:batch",
			body: `{"actions":[{"subject_id":"a","requested_at":"2026-11-02T12:00:00"},{"subject_id":"b"},{"subject_id":"c","params":` + long + `}]}`,
		}},
		{fakes(), ask{credential: "key-without-actions:record", path: "/v1/actions", body: "{}"}},
		{(&fake{err: &access.ThrottleError{RetryAfter: 11*time.Second + time.Millisecond}}).services(), ask{
			credential: "full-key", path: "/v1/actions", body: `{"subject_id":"a"}`,
		}},
	} {
		one.ask.method = post
		g := start(t, one.services, nil).do(one.ask)
		var answered, shown any
		if err := json.Unmarshal(g.body, &answered); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(pages[i]), &shown); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(answered, shown) {
			t.Errorf("the page shows\n%s\nand the answer is\n%s", pages[i], g.body)
		}
	}
}

// Whatever comes in either header, or in both: exactly one credential counts.
func TestExactlyOneCredentialCounts(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		header http.Header
		status int
	}{
		"a key":                             {http.Header{"X-Api-Key": {"full-key"}}, 200},
		"a bearer":                          {http.Header{"Authorization": {"bearer full-key"}}, 200},
		"the same in both":                  {http.Header{"X-Api-Key": {"full-key"}, "Authorization": {"Bearer full-key"}}, 200},
		"another in both":                   {http.Header{"X-Api-Key": {"full-key"}, "Authorization": {"Bearer owner"}}, 401},
		"two keys":                          {http.Header{"X-Api-Key": {"full-key", "drafting-key"}}, 401},
		"two bearers":                       {http.Header{"Authorization": {"Bearer full-key", "Bearer owner"}}, 401},
		"a name and a password":             {http.Header{"Authorization": {"Basic YTpi"}}, 401},
		"a key beside a name and password":  {http.Header{"X-Api-Key": {"full-key"}, "Authorization": {"Basic YTpi"}}, 401},
		"a session where a key belongs":     {http.Header{"X-Api-Key": {"dss_session"}}, 401},
		"a session in both":                 {http.Header{"X-Api-Key": {"dss_session"}, "Authorization": {"Bearer dss_session"}}, 401},
		"an empty key":                      {http.Header{"X-Api-Key": {""}}, 401},
		"an empty key beside a right one":   {http.Header{"X-Api-Key": {""}, "Authorization": {"Bearer full-key"}}, 401},
		"a bearer without a token":          {http.Header{"Authorization": {"Bearer"}}, 401},
		"a cookie":                          {http.Header{"Cookie": {"session=full-key"}}, 401},
		"a right key beside a wrong cookie": {http.Header{"X-Api-Key": {"full-key"}, "Cookie": {"session=nobody"}}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, fakes(), nil).do(ask{method: get, path: "/v1/workspace", header: one.header})
			if g.status != one.status {
				t.Errorf("the answer is %d %s", g.status, g.body)
			}
			if strings.Contains(string(g.body), "full-key") {
				t.Errorf("the answer has a credential in it: %s", g.body)
			}
		})
	}
}

func TestAPathIsTakenAsItIsOrNotAtAll(t *testing.T) {
	t.Parallel()
	for path, status := range map[string]int{
		"/v1/actions/a%2F..%2Fb":            200, // one part, however it looks
		"/v1/actions/%2e%2e":                200,
		"/v1/actions/a%20b":                 200,
		"/v1//actions":                      404,
		"/v1/actions/../actions":            404,
		"/v1/actions/./x":                   404,
		"/v1/actions/":                      404,
		"/v1/actions/a/b":                   404,
		"/v1/actions/a%00b":                 404, // what no database can hold is nowhere
		"/v1/actions/%ff":                   404,
		"/v2/actions":                       404,
		"/":                                 404,
		"/v1/contracts/refund/versions/0":   404,
		"/v1/contracts/refund/versions/1.0": 404,
		"/v1/contracts/refund/versions/+1":  404,
	} {
		g := start(t, fakes(), nil).do(ask{method: get, path: path, credential: "full-key"})
		if g.status != status {
			t.Errorf("%s is answered with %d %s, want %d", path, g.status, g.body, status)
		}
	}
}

func TestWhoeverRunsTheServerIsToldHowARequestEnded(t *testing.T) {
	t.Parallel()
	s := start(t, fakes(), func(o *Options) { o.Remote = func(*http.Request) string { return "192.0.2.7" } })
	s.do(ask{method: get, path: "/v1/actions/a-1?surprise=1", credential: "owner"})
	e := s.events[0]
	if e.Route != "GET /v1/actions/{ref}" || e.Status != 400 || e.Actor != "ada@example.com" || e.Workspace != fakeHome ||
		e.Remote != "192.0.2.7" || e.Code != access.InvalidRequest || e.Err != nil || e.Bytes == 0 || e.Took <= 0 {
		t.Errorf("the request is told as %+v", e)
	}
	s.do(ask{method: get, path: "/nowhere", credential: "owner"})
	if e = s.events[1]; e.Route != "" || e.Status != 404 || e.RequestID == s.events[0].RequestID {
		t.Errorf("a request for nothing is told as %+v", e)
	}
}

func TestAHeadIsAnsweredLikeAGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	s := start(t, fakes(), nil)
	whole := s.do(ask{method: get, path: "/v1/workspace", credential: "owner"})
	head := s.do(ask{method: http.MethodHead, path: "/v1/workspace", credential: "owner"})
	if head.status != 200 || len(head.body) != 0 || head.header.Get("Content-Length") != fmt.Sprint(len(whole.body)) {
		t.Errorf("a HEAD is answered with %d, %d bytes, and a length of %s", head.status, len(head.body), head.header.Get("Content-Length"))
	}
}
