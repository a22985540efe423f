package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const secret = "spk_live_0123456789"

// wire answers requests in place of a network, the last answer for ever.
type wire struct {
	answers []func(*http.Request) (*http.Response, error)
	bodies  []string
	at      []time.Time
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	w.bodies, w.at = append(w.bodies, body), append(w.at, time.Now())
	answer := w.answers[min(len(w.bodies), len(w.answers))-1]
	return answer(r)
}

// answer is one with headers, given as name and value.
func answer(status int, body string, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func fault(status int, code string, headers ...string) func(*http.Request) (*http.Response, error) {
	return answer(status, fmt.Sprintf(`{"error":{"code":%q,"message":"said no"}}`, code), headers...)
}

// broken is a network that breaks.
func broken(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection reset by peer")
}

func dial(t *testing.T, answers ...func(*http.Request) (*http.Response, error)) (*Conn, *wire) {
	t.Helper()
	w := &wire{answers: answers}
	c, err := Open("https://deed.example.com/", secret, Options{Client: &http.Client{Transport: w}, Agent: "test/1"})
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

func TestTheSameBytesGoOutAgainUntilTheyAreAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, fault(503, "unavailable"), broken, fault(429, "rate_limited"), answer(201, `{"recorded":"new"}`), answer(500, ""))
		var out struct{ Recorded string }
		status, err := c.Call(t.Context(), http.MethodPost, "/v1/actions", nil, map[string]any{"b": 1, "a": "x"}, &out)
		if err != nil || status != 201 || out.Recorded != "new" {
			t.Fatalf("%d, %v, %+v", status, err, out)
		}
		if len(w.bodies) != 4 {
			t.Fatalf("%d requests, want 4", len(w.bodies))
		}
		for _, body := range w.bodies {
			if body != `{"a":"x","b":1}` {
				t.Errorf("it sent %s", body)
			}
		}
	})
}

func TestWhatWouldBeDoubledIsSentOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, first := range map[string]func(*http.Request) (*http.Response, error){
			"a server in trouble": fault(503, "unavailable", "Retry-After", "1"), "a network that breaks": broken,
		} {
			c, w := dial(t, first, answer(201, `{}`))
			if _, err := c.Once().Call(t.Context(), http.MethodPost, "/v1/keys", nil, map[string]string{}, nil); err == nil || len(w.bodies) != 1 {
				t.Errorf("%s: %d requests, %v", name, len(w.bodies), err)
			}
			// The connection that it was made from goes on as before.
			if _, err := c.Call(t.Context(), http.MethodPost, "/v1/keys", nil, map[string]string{}, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestWhatNothingWouldHelpIsNotSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for status, code := range map[int]string{400: "invalid_request", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 413: "too_large"} {
			c, w := dial(t, fault(status, code, "Deed-Request-Id", "req_1"))
			got, err := c.Call(t.Context(), http.MethodGet, "/v1/actions/x", nil, nil, nil)
			said, is := errors.AsType[*Error](err)
			if !is || got != status || said.Status != status || said.Code != code || said.Message != "said no" || said.RequestID != "req_1" || len(w.bodies) != 1 {
				t.Errorf("%d: %d requests, %d, %+v", status, len(w.bodies), got, said)
			}
		}
		c, w := dial(t, answer(200, "<html>"))
		if _, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, &struct{}{}); err == nil || len(w.bodies) != 1 {
			t.Errorf("an answer that is no JSON: %d requests, %v", len(w.bodies), err)
		}
	})
}

func TestTryingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, fault(503, "unavailable"))
		begun := time.Now()
		_, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, nil)
		if said, is := errors.AsType[*Error](err); !is || said.Message != "said no" || len(w.bodies) != DefaultTries {
			t.Errorf("%d requests, %v", len(w.bodies), err)
		}
		// 100, 200, 400, 800 and 1600 ms at most, and half of each at least.
		if took := time.Since(begun); took < 1550*time.Millisecond || took > 3100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		c, w = dial(t, broken)
		_, err = c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, nil)
		lost, is := errors.AsType[*UnreachableError](err)
		if !is || lost.Address != "https://deed.example.com" || len(w.bodies) != DefaultTries {
			t.Errorf("%d requests, %v", len(w.bodies), err)
		}
	})
}

func TestAServerThatAsksToWaitIsLeftAloneForThatLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
		for name, test := range map[string]struct {
			first func(*http.Request) (*http.Response, error)
			want  time.Duration
		}{
			"seconds":                {fault(429, "rate_limited", "Retry-After", "7"), 7 * time.Second},
			"a date":                 {fault(503, "unavailable", "Retry-After", date), 90 * time.Second},
			"the body says it":       {answer(429, `{"error":{"code":"rate_limited","message":"m","retry_after":2.5}}`, "Retry-After", "3"), 2500 * time.Millisecond},
			"not for ever":           {fault(503, "unavailable", "Retry-After", "86400"), 5 * time.Minute},
			"more than a number has": {answer(503, `{"error":{"code":"unavailable","message":"m","retry_after":1e300}}`), 5 * time.Minute},
			"infinitely":             {fault(503, "unavailable", "Retry-After", "Inf"), 5 * time.Minute},
		} {
			c, w := dial(t, test.first, answer(200, `{}`))
			if name == "a date" {
				w.answers[0] = fault(503, "unavailable", "Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
			}
			if _, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, nil); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			// A date has no fractions of a second.
			if got := w.at[1].Sub(w.at[0]); got.Round(time.Second) != test.want.Round(time.Second) || name != "a date" && got != test.want {
				t.Errorf("%s: it waited %s, want %s", name, got, test.want)
			}
		}
		for name, header := range map[string]string{"nonsense": "soon", "a negative one": "-5", "a time that is over": "Sun, 06 Nov 1994 08:49:37 GMT", "no number": "NaN"} {
			c, w := dial(t, fault(503, "unavailable", "Retry-After", header), answer(200, `{}`))
			if _, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := w.at[1].Sub(w.at[0]); got < firstPause/2 || got > firstPause {
				t.Errorf("%s: it waited %s", name, got)
			}
		}
	})
}

func TestADeadlineThatWouldBeOverIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, fault(429, "rate_limited", "Retry-After", "60"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := c.Call(ctx, http.MethodGet, "/v1/actions", nil, nil, nil)
		if said, is := errors.AsType[*Error](err); !is || said.RetryAfter != time.Minute || len(w.bodies) != 1 || time.Since(begun) != 0 {
			t.Errorf("after %s and %d requests: %v", time.Since(begun), len(w.bodies), err)
		}
	})
}

func TestAContextThatEndsEndsTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("told to end")
		ended := func(after time.Duration) context.Context {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(why) })
			return ctx
		}
		// While it waits to try again: with what the last try said.
		c, w := dial(t, fault(503, "unavailable", "Retry-After", "60"))
		_, err := c.Call(ended(time.Second), http.MethodGet, "/v1/actions", nil, nil, nil)
		if said, is := errors.AsType[*Error](err); !errors.Is(err, why) || !is || said.Status != 503 || len(w.bodies) != 1 {
			t.Errorf("while it waits: %d requests, %v", len(w.bodies), err)
		}
		// While nothing is answered.
		c, w = dial(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		if _, err := c.Call(ended(time.Second), http.MethodGet, "/v1/actions", nil, nil, nil); !errors.Is(err, why) || len(w.bodies) != 1 {
			t.Errorf("while nothing is answered: %d requests, %v", len(w.bodies), err)
		}
	})
}
