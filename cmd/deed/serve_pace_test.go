package main

import (
	"net/http"
	"testing"
	"time"
)

// The clock stands still but for the time that the test takes, so that the fourth
// request at least finds no more than the two of the burst and one a second.
func TestACredentialThatAsksTooOftenIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	config := clockConfig(t, "sqlite")
	config.RequestsPerSecond = 1
	s := startInner(t, config, &turnedClock{})
	defer s.end(t)
	var session struct{ Token string }
	if err := post(s.url+"/v1/session", "", `{"link":"`+s.link+`"}`, &session); err != nil {
		t.Fatal(err)
	}
	ask := func() *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/workspace", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+session.Token)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		return got
	}
	begun := time.Now()
	for n := 1; ; n++ {
		got := ask()
		if got.StatusCode == http.StatusTooManyRequests {
			if n <= 2 {
				t.Errorf("request %d is refused, though two may come at once", n)
			}
			if after := got.Header.Get("Retry-After"); after != "1" {
				t.Errorf("it is to come again after %q, want 1", after)
			}
			return
		}
		if got.StatusCode != http.StatusOK {
			t.Fatalf("request %d is answered with %s", n, got.Status)
		}
		if allowed := 2 + time.Since(begun).Seconds(); float64(n) > allowed+1 {
			t.Fatalf("request %d is let through after %s", n, time.Since(begun))
		}
	}
}
