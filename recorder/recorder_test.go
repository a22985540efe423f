package recorder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/recorder"
)

const key = "spk_4fT9xK2b_never_to_be_seen"

// bench is a recorder with an API that answers as told.
type bench struct {
	*recorder.Recorder
	mu     sync.Mutex
	bodies []string
	log    bytes.Buffer
}

// logged is what the recorder said so far.
func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// Write takes a line of the log.
func (b *bench) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(line)
}

func (b *bench) posted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.bodies...)
}

func newBench(t *testing.T, o recorder.Options, answer http.HandlerFunc) *bench {
	t.Helper()
	b := &bench{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read what was posted: %v", err)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/actions" || r.Header.Get("x-api-key") != key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s with %v", r.Method, r.URL.Path, r.Header)
		}
		b.mu.Lock()
		b.bodies = append(b.bodies, string(body))
		b.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(api.Close)
	mapping, err := recorder.ParseMapping("refunds.yaml", []byte(refunds))
	if err != nil {
		t.Fatal(err)
	}
	o.APIKey, o.APIURL, o.Log = key, api.URL+"/", log.New(b, "", 0)
	if b.Recorder, err = recorder.New(mapping, o); err != nil {
		t.Fatal(err)
	}
	return b
}

// answers is an API that always gives one answer.
func answers(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

const created = `{"recorded": "new", "action": {"id": "act_1"}}`

func refund(id, order string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"refund_payment","arguments":{"order_id":%q,"amount":180.0,"currency":"USD"}}}`, id, order)
}

func TestNewReplayedAndChangedAllMeanDeclared(t *testing.T) {
	t.Parallel()
	for status, text := range map[int]string{201: created, 200: `{"recorded": "replayed"}`} {
		b := newBench(t, recorder.Options{NoFailOpen: true}, answers(status, text))
		if d := b.BeforeForward(t.Context(), refund("7", "o-1")); !d.Forward || d.Err != nil || d.ActionID != "refund:o-1" {
			t.Errorf("%d: %+v", status, d)
		}
	}
	b := newBench(t, recorder.Options{NoFailOpen: true}, answers(200, `{"recorded": "changed"}`))
	if d := b.BeforeForward(t.Context(), refund("7", "o-1")); !d.Forward || d.Err != nil {
		t.Errorf("changed: %+v", d)
	}
}

func TestEverythingElseIsForwardedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, recorder.Options{NoFailOpen: true}, answers(500, ""))
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_orders"}}`,
		`{"jsonrpc":"2.0","id":4,"result":{}}`, `not JSON`, ``, `[]`, `[1,"a",null]`, `{"method":"tools/call","params":{"name":7}}`,
	} {
		if d := b.BeforeForward(t.Context(), []byte(message)); !d.Forward || d.Err != nil || d.Reply != nil || d.ActionID != "" {
			t.Errorf("%s: %+v", message, d)
		}
	}
	if posted := b.posted(); len(posted) > 0 {
		t.Errorf("posted %q", posted)
	}
}

func TestWhatCannotBeDeclaredIsForwardedWithAWarning(t *testing.T) {
	t.Parallel()
	for message, reason := range map[string]string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"refund_payment","arguments":{"order_id":"o-1"}}}`:               "no request id",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund_payment","arguments":{}}}`:                        "no subject at arguments.order_id",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund_payment","arguments":{"order_id":1},"name":"x"}}`: "params.name twice",
	} {
		b := newBench(t, recorder.Options{NoFailOpen: true}, answers(201, created))
		d := b.BeforeForward(t.Context(), []byte(message))
		var why *recorder.NotDeclarable
		if !d.Forward || !errors.As(d.Err, &why) || !strings.Contains(d.Err.Error(), reason) || !strings.Contains(b.logged(), reason) {
			t.Errorf("%s: %+v, log %q", message, d, b.logged())
		}
		if len(b.posted()) > 0 {
			t.Errorf("%s: posted %q", message, b.posted())
		}
	}
}

func TestAFailedRecordingForwardsAndWarnsByDefault(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a refusal": answers(400, `{"error": {"code": "invalid_request"}}`),
		"a fault":   answers(500, `oh`),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"accepted for later":       answers(202, `{}`),
		"a page to log in with":    answers(200, `<html>Please log in</html>`),
		"a connection that breaks": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		b := newBench(t, recorder.Options{}, answer)
		d := b.BeforeForward(t.Context(), refund("7", "o-1"))
		var failed *recorder.RecordingError
		if !d.Forward || !errors.As(d.Err, &failed) || failed.ActionID != "refund:o-1" || d.Reply != nil || d.ActionID != "" {
			t.Errorf("%s: %+v", name, d)
		}
		if lines := strings.Count(b.logged(), "\n"); lines != 1 || !strings.Contains(b.logged(), "refund_payment is forwarded and not recorded: declare refund:o-1: ") {
			t.Errorf("%s: log %q", name, b.logged())
		}
		if posted := b.posted(); len(posted) != 1 {
			t.Errorf("%s: posted %d times", name, len(posted))
		}
		// What was not recorded is not said to be when its answer comes.
		b.AfterResponse([]byte(`{"jsonrpc":"2.0","id":7,"result":{}}`))
		if strings.Contains(b.logged(), "tool result") {
			t.Errorf("%s: log %q", name, b.logged())
		}
	}
}

func TestACallWhoseRecordingFailsIsRefusedIfAskedFor(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"7": "7", "7.0": "7.0", `"a\u0062"`: `"a\u0062"`, "12345678901234567890": "12345678901234567890",
	} {
		b := newBench(t, recorder.Options{NoFailOpen: true}, answers(503, `{"error": {"code": "unavailable"}}`))
		d := b.BeforeForward(t.Context(), refund(id, "o-1"))
		want := `{"jsonrpc":"2.0","id":` + want + `,"error":{"code":-32000,"message":"Deed recording failed: declare refund:o-1: the API answered 503 (unavailable)"}}`
		if d.Forward || string(d.Reply) != want {
			t.Errorf("%+v, reply %s, want %s", d, d.Reply, want)
		}
	}
}

func TestAnAPIThatHangsIsNotWaitedForLongerThanTheTimeOut(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	b := newBench(t, recorder.Options{Timeout: 20 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	})
	d := b.BeforeForward(t.Context(), refund("7", "o-1"))
	close(gone)
	if !d.Forward || !errors.Is(d.Err, context.DeadlineExceeded) || !strings.Contains(d.Err.Error(), "no answer within 20ms") {
		t.Errorf("%+v", d)
	}
}

func TestABatchIsDeclaredBeforeAnyOfItIsForwarded(t *testing.T) {
	t.Parallel()
	batch := []byte(`[` + string(refund("1", "o-1")) + `,{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"ping"},` + string(refund("3", "o-3")) + `]`)
	b := newBench(t, recorder.Options{NoFailOpen: true}, answers(201, created))
	if d := b.BeforeForward(t.Context(), batch); !d.Forward || fmt.Sprint(d.ActionIDs) != "[refund:o-1 refund:o-3]" || d.ActionID != "refund:o-1" {
		t.Errorf("%+v", d)
	}
	b = newBench(t, recorder.Options{NoFailOpen: true}, func(w http.ResponseWriter, r *http.Request) {
		answers(503, "{}")(w, r)
	})
	d := b.BeforeForward(t.Context(), batch)
	var replies []struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	if err := json.Unmarshal(d.Reply, &replies); err != nil || d.Forward || len(replies) != 3 {
		t.Fatalf("%+v, reply %s", d, d.Reply)
	}
	for i, id := range []string{"1", `"b"`, "3"} {
		if string(replies[i].ID) != id || replies[i].Error.Code != -32000 {
			t.Errorf("reply %d is %s", i, d.Reply)
		}
	}
}

func TestTheAnswerOfARecordedCallIsOneLineInTheLog(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":false}}`: "recorded refund:o-1 → tool result isError=false\n",
		`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`:                 "recorded refund:o-1 → tool result isError=false\n",
		`{"jsonrpc":"2.0","id":7,"result":{"isError":true}}`:               "recorded refund:o-1 → tool result isError=true\n",
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}`:  "recorded refund:o-1 → error -32602\n",
		`[{"jsonrpc":"2.0","id":7,"result":{}}]`:                           "recorded refund:o-1 → tool result isError=false\n",
		`{"jsonrpc":"2.0","id":"7","result":{}}`:                           "",
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`:                         "",
		`{"jsonrpc":"2.0","id":8,"result":{}}`:                             "",
		`garbage`:                                                          "",
	} {
		b := newBench(t, recorder.Options{}, answers(201, created))
		b.BeforeForward(t.Context(), refund("7", "o-1"))
		b.AfterResponse([]byte(answer))
		if got := b.logged(); got != want {
			t.Errorf("%s: log %q, want %q", answer, got, want)
		}
		before := len(b.posted())
		b.AfterResponse([]byte(answer))
		if got := b.logged(); got != want || len(b.posted()) != before {
			t.Errorf("%s: the second time the log is %q", answer, got)
		}
	}
}

func TestATextFromTheWireCannotForgeALineOfTheLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, recorder.Options{WarnUnmapped: true}, answers(500, ""))
	b.BeforeForward(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x\nrecorded \u001b[31m"}}`))
	if got := b.logged(); got != `x\nrecorded \x1b[31m is called and not mapped`+"\n" {
		t.Errorf("log %q", got)
	}
}

func TestAnUnmappedToolIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, recorder.Options{WarnUnmapped: true}, answers(500, ""))
	for range 3 {
		b.BeforeForward(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}`))
	}
	if got := b.logged(); got != "list_orders is called and not mapped\n" {
		t.Errorf("log %q", got)
	}
}

func TestTwoRecordersNeverTakeOneActionForTheOthers(t *testing.T) {
	t.Parallel()
	mapping, err := recorder.ParseMapping("m.yaml", []byte("tools: {t: {contract_id: c, subject: name}}"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	api := httptest.NewServer(answers(201, created))
	t.Cleanup(api.Close)
	for _, session := range []string{"", "", "6d4e"} {
		r, err := recorder.New(mapping, recorder.Options{APIKey: key, APIURL: api.URL, Session: session})
		if err != nil {
			t.Fatal(err)
		}
		call := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}`)
		first, again := r.BeforeForward(t.Context(), call), r.BeforeForward(t.Context(), call)
		if first.ActionID == "" || first.ActionID != again.ActionID || seen[first.ActionID] {
			t.Errorf("%q and %q", first.ActionID, again.ActionID)
		}
		seen[first.ActionID] = true
	}
	if !seen["mcp:t:6d4e:7"] {
		t.Errorf("ids %v", seen)
	}
}

func TestCallsMayBeDeclaredAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, recorder.Options{}, answers(201, created))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			id := fmt.Sprint(i)
			if d := b.BeforeForward(t.Context(), refund(id, "o-"+id)); d.ActionID != "refund:o-"+id {
				t.Errorf("%+v", d)
			}
			b.AfterResponse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`))
		})
	}
	all.Wait()
	if lines := strings.Count(b.logged(), "tool result"); lines != 20 {
		t.Errorf("%d lines in the log", lines)
	}
}
