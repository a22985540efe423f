package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/client"
)

const (
	address = "https://deed.example.com"
	key     = "spk_4fT9xK2bnotarealkeynotarealkeynotarealkeynotareal00000000"
)

// server answers requests without a network, so that time in tests is virtual.
type server struct {
	answer func(n int, r *http.Request, body string) (status int, text string)
	seen   []string // method, path and body of each request
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	status, text := s.answer(len(s.seen), r, string(body))
	if status == 0 {
		return nil, errors.New("connection reset by peer")
	}
	header := http.Header{}
	if status == http.StatusFound {
		header.Set("Location", "https://elsewhere.example/v1/actions")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func actions(t *testing.T, s *server, options ...client.Option) *client.Actions {
	t.Helper()
	a, err := client.NewActions(address, key, append(options, client.WithHTTPClient(&http.Client{Transport: s}))...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func declared(recorded, status, badge string) string {
	return fmt.Sprintf(`{"recorded":%q,"action":{"id":"act_01","action_id":"refund:1"},"verification":{"status":%q,"badge":%q,"decided":%v}}`,
		recorded, status, badge, badge == "PASS")
}

func fault(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"so it is"}}`, code)
}

func TestADeclarationThatMayHaveBeenKeptIsSentAgainWithTheSameBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(n int, _ *http.Request, _ string) (int, string) {
			switch n {
			case 1:
				return 0, "" // the answer was lost
			case 2:
				return 503, fault("unavailable")
			case 3:
				return 429, `{"error":{"code":"rate_limited","message":"slowly","retry_after":7}}`
			}
			return 200, declared("replayed", "provisional", "UNKNOWN")
		}}
		before := time.Now()
		got, err := actions(t, s).Declare(t.Context(), client.Action{Type: "refund_order", SubjectID: "1"})
		if err != nil || got.Recorded != client.Replayed {
			t.Fatalf("%+v, %v", got, err)
		}
		if len(s.seen) != 4 || s.seen[0] != s.seen[1] || s.seen[0] != s.seen[3] {
			t.Errorf("sent %q, want four times the same", s.seen)
		}
		if !strings.Contains(s.seen[0], `"action_id":"go:`) {
			t.Errorf("%s has no id, so that sending it twice makes two actions", s.seen[0])
		}
		if waited := time.Since(before); waited < 7*time.Second || waited > 10*time.Second {
			t.Errorf("waited %s; the server asked for 7s", waited)
		}
	})
}

func TestWhatTheServerRefusesIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{302, 400, 401, 403, 404, 409, 413} {
		s := &server{answer: func(int, *http.Request, string) (int, string) { return status, fault("some_code") }}
		_, err := actions(t, s).Declare(t.Context(), client.Action{SubjectID: "1"})
		var e *client.Error
		if !errors.As(err, &e) || e.Status != status || e.Code != "some_code" || len(s.seen) != 1 {
			t.Errorf("%d: %v after %d requests", status, err, len(s.seen))
		}
	}
}

func TestAKeyGoesToOneAddressAndShowsNowhere(t *testing.T) {
	t.Parallel()
	s := &server{answer: func(_ int, r *http.Request, _ string) (int, string) {
		if r.URL.Host != "deed.example.com" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("a request went to %s", r.URL.Host)
		}
		return 302, "see there"
	}}
	a := actions(t, s)
	_, err := a.Declare(t.Context(), client.Action{SubjectID: "1"})
	if err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("a redirect gives %v", err)
	}
	if shown := fmt.Sprintf("%v %+v %#v %v", a, a, a, err); strings.Contains(shown, "notarealkey") {
		t.Errorf("the key is printed: %s", shown)
	}
	for _, bad := range []string{"", "deed.example.com", "http://deed.example.com", "ftp://deed.example.com", "https://u:p@deed.example.com"} {
		if _, err := client.NewActions(bad, key); err == nil {
			t.Errorf("%q is taken for an address", bad)
		}
	}
	for _, bad := range []string{"", "with space", "two\nlines"} {
		if _, err := client.NewActions(address, bad); err == nil || strings.Contains(err.Error(), "with space") {
			t.Errorf("the key %q gives %v", bad, err)
		}
	}
}

func TestDoActsOnlyOnceTheServerHasTheAction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var order []string
		act := func(_ context.Context, a client.Action) error {
			order = append(order, "act "+a.ID)
			return nil
		}
		up := &server{answer: func(int, *http.Request, string) (int, string) {
			order = append(order, "declared")
			return 201, declared("new", "provisional", "UNKNOWN")
		}}
		if _, err := actions(t, up).Do(t.Context(), client.Action{ID: "refund:1"}, act); err != nil || len(order) != 2 || order[0] != "declared" || order[1] != "act refund:1" {
			t.Errorf("%q, %v", order, err)
		}

		order = nil
		down := &server{answer: func(n int, _ *http.Request, _ string) (int, string) {
			if n <= 2 {
				return 0, ""
			}
			return 201, declared("new", "provisional", "UNKNOWN")
		}}
		if _, err := actions(t, down, client.WithTries(2)).Do(t.Context(), client.Action{ID: "refund:1"}, act); err == nil || len(order) != 0 {
			t.Errorf("without the server: %q, %v", order, err)
		}

		down.seen = nil
		got, err := actions(t, down, client.WithTries(2), client.FailOpen()).Do(t.Context(), client.Action{ID: "refund:1"}, act)
		if err != nil || got == nil || len(order) != 1 {
			t.Errorf("fail-open: %v, %q, %v", got, order, err)
		}
		if len(down.seen) != 3 || down.seen[0] != down.seen[2] {
			t.Errorf("the late declaration differs from the first try: %q", down.seen)
		}
	})
}

func TestWaitAsksUntilTheVerdictIsSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := &server{answer: func(int, *http.Request, string) (int, string) {
			switch since := time.Since(begun); {
			case since < 10*time.Second:
				return 200, declared("", "provisional", "UNKNOWN")
			case since < time.Minute:
				return 503, fault("unavailable")
			case since < time.Hour:
				return 200, declared("", "provisional", "PASS")
			}
			return 200, declared("", "settled", "PASS")
		}}
		a := actions(t, s)
		got, err := a.Wait(t.Context(), "refund:1", client.UntilDecided)
		if err != nil || got.Verification.Status != client.Provisional || time.Since(begun) > 2*time.Minute {
			t.Errorf("decided: %+v, %v after %s", got, err, time.Since(begun))
		}
		got, err = a.Wait(t.Context(), "refund:1", client.UntilSettled)
		if err != nil || !got.Verification.IsSettled() || time.Since(begun) > time.Hour+time.Minute {
			t.Errorf("settled: %+v, %v after %s", got, err, time.Since(begun))
		}
		if len(s.seen) > 300 {
			t.Errorf("%d requests in an hour", len(s.seen))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int, *http.Request, string) (int, string) { return 200, declared("", "provisional", "UNKNOWN") }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := actions(t, s).Wait(ctx, "refund:1", client.UntilSettled)
		var w *client.WaitError
		if !errors.As(err, &w) || !errors.Is(err, context.DeadlineExceeded) || w.Last == nil || w.Last.Verification.Badge != client.Unknown {
			t.Errorf("after a minute: %v", err)
		}
		missing := &server{answer: func(int, *http.Request, string) (int, string) { return 404, fault("not_found") }}
		if _, err := actions(t, missing).Wait(t.Context(), "nobody", client.UntilSettled); err == nil || len(missing.seen) != 1 {
			t.Errorf("an unknown action: %v after %d requests", err, len(missing.seen))
		}
	})
}

func TestARefIsOnePartOfAPath(t *testing.T) {
	t.Parallel()
	s := &server{answer: func(_ int, r *http.Request, _ string) (int, string) {
		if r.URL.Path == "/v1/actions" {
			return 200, `{"actions":[{"action":{"id":"act_07","action_id":"pending"}}],"next_cursor":null}`
		}
		return 200, declared("", "settled", "PASS")
	}}
	a := actions(t, s)
	for _, ref := range []string{"refund:o/1?x=%2F#y", "pending"} {
		if _, err := a.Get(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
	want := []string{"GET /v1/actions/refund:o%2F1%3Fx=%252F%23y ", "GET /v1/actions?action_id=pending&limit=1 ", "GET /v1/actions/act_07 "}
	for i := range want {
		if s.seen[i] != want[i] {
			t.Errorf("asked for %q, want %q", s.seen[i], want[i])
		}
	}
}

func TestListsAreReadPageByPageAndNoFurtherThanAsked(t *testing.T) {
	t.Parallel()
	s := &server{answer: func(_ int, r *http.Request, _ string) (int, string) {
		next := map[string]string{"": `"c_2"`, "c_2": `"c_3"`, "c_3": "null"}[r.URL.Query().Get("cursor")]
		return 200, `{"actions":[{"action":{"action_id":"a"}},{"action":{"action_id":"b"}}],"next_cursor":` + next + `}`
	}}
	a := actions(t, s)
	count := 0
	for got, err := range a.List(t.Context(), client.Query{Verdict: client.Fail, Period: "2026-11"}) {
		if err != nil || got.Action.ID == "" {
			t.Fatal(err)
		}
		count++
	}
	if count != 6 || len(s.seen) != 3 || !strings.Contains(s.seen[0], "verdict=FAIL") {
		t.Errorf("%d actions of %q", count, s.seen)
	}
	s.seen = nil
	for range a.List(t.Context(), client.Query{}) {
		break
	}
	if len(s.seen) != 1 {
		t.Errorf("one action took %d requests", len(s.seen))
	}
}

func TestFactsGoInPartsThatAreKeptWhole(t *testing.T) {
	t.Parallel()
	s := &server{answer: func(n int, _ *http.Request, body string) (int, string) {
		if n == 3 {
			return 400, `{"error":{"code":"invalid_request","message":"1 of 500 facts","errors":[{"index":2,"field":"type","message":"is missing"}]}}`
		}
		var b struct {
			Facts []struct{ Mode string }
		}
		if err := json.Unmarshal([]byte(body), &b); err != nil || len(b.Facts) != client.MaxBatch || b.Facts[0].Mode != "state" {
			t.Errorf("part %d: %d facts, %v", n, len(b.Facts), err)
		}
		return 200, `{"new":999,"known":1}`
	}}
	e, err := client.NewEvidence(address, key, client.WithHTTPClient(&http.Client{Transport: s}))
	if err != nil {
		t.Fatal(err)
	}
	facts := make([]client.Fact, 2500)
	for i := range facts {
		facts[i] = client.Fact{Source: "stripe", ExternalID: fmt.Sprint(i), Type: "refund.succeeded", OccurredAt: time.Unix(1, 0), State: true}
	}
	sum, err := e.Push(t.Context(), facts...)
	var refused *client.Error
	if !errors.As(err, &refused) || len(refused.Problems) != 1 || refused.Problems[0].Index != 2 || sum != (client.Pushed{New: 1998, Known: 2}) {
		t.Errorf("%+v, %v", sum, err)
	}
	ok := &server{answer: func(int, *http.Request, string) (int, string) { return 200, `{}` }}
	e, _ = client.NewEvidence(address, key, client.WithHTTPClient(&http.Client{Transport: ok}))
	if err := e.Complete(t.Context(), "my/source", time.Unix(0, 0), "refund.succeeded"); err != nil {
		t.Error(err)
	}
	if want := `PUT /v1/sources/my%2Fsource/watermark {"watermarks":{"refund.succeeded":"1970-01-01T00:00:00Z"}}`; ok.seen[0] != want {
		t.Errorf("sent %s, want %s", ok.seen[0], want)
	}
}
