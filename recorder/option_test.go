package recorder_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-dev/deed/recorder"
)

func TestTheKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	o := recorder.Options{APIKey: key, APIURL: "https://user:" + key + "@deed.example.com", AgentID: "a"}
	mapping, err := recorder.ParseMapping("m.yaml", []byte(refunds))
	if err != nil {
		t.Fatal(err)
	}
	good := o
	good.APIURL = "https://deed.example.com"
	r, err := recorder.New(mapping, good)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, printed := range []any{o, &o, []recorder.Options{o}, struct{ O recorder.Options }{o}, r} {
			text := fmt.Sprintf(verb, printed)
			if strings.Contains(text, key) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", key)) {
				t.Errorf("%s of %T shows the key: %s", verb, printed, text)
			}
		}
	}
	if text, err := json.Marshal(o); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("as JSON the options are %s, %v", text, err)
	}
	var said bytes.Buffer
	slog.New(slog.NewTextHandler(&said, nil)).Info("made", "options", o)
	slog.New(slog.NewJSONHandler(&said, nil)).Info("made", "options", o)
	if strings.Contains(said.String(), key) {
		t.Errorf("a log has %s", said.String())
	}
}

func TestTheKeyIsInNoErrorAndNoLog(t *testing.T) {
	t.Parallel()
	mapping, err := recorder.ParseMapping("m.yaml", []byte(refunds))
	if err != nil {
		t.Fatal(err)
	}
	hangingUp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, `{"error": {"code": %q}}`, r.Header.Get("x-api-key")) // a server that echoes it
	}))
	t.Cleanup(hangingUp.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, o := range []recorder.Options{
		{APIKey: key, APIURL: hangingUp.URL},
		{APIKey: key, APIURL: closed.URL},
		{APIKey: key + "\n", APIURL: hangingUp.URL},
		{APIKey: key, APIURL: "https://" + key + "@deed.example.com"},
		{APIKey: key, APIURL: "https://deed.example.com/?key=" + key},
		{APIKey: key, APIURL: "://" + key},
		{APIKey: key, APIURL: "ftp://deed.example.com/"},
	} {
		var said bytes.Buffer
		o.Log = log.New(&said, "", 0)
		r, err := recorder.New(mapping, o)
		if err == nil {
			err = r.BeforeForward(t.Context(), refund("7", "o-1")).Err
		}
		if err == nil {
			t.Errorf("%s: no error", o)
			continue
		}
		if strings.Contains(err.Error(), key) || strings.Contains(said.String(), key) {
			t.Errorf("%s: error %v, log %s", o, err, said.String())
		}
	}
}

func TestARedirectDoesNotCarryTheKeyAnywhere(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("x-api-key") }))
	t.Cleanup(other.Close)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	}))
	t.Cleanup(api.Close)
	mapping, err := recorder.ParseMapping("m.yaml", []byte(refunds))
	if err != nil {
		t.Fatal(err)
	}
	// A client of the caller's that follows redirects is not changed either.
	client := &http.Client{}
	r, err := recorder.New(mapping, recorder.Options{APIKey: key, APIURL: api.URL, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.BeforeForward(t.Context(), refund("7", "o-1")); d.Err == nil || !strings.Contains(d.Err.Error(), "the API answered 308") {
		t.Errorf("%+v", d)
	}
	if client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
	select {
	case sent := <-asked:
		t.Errorf("the other host was asked, with the key %q", sent)
	default:
	}
}

func TestWithoutAKeyOrAnAddressItOnlyForwardsAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	mapping, err := recorder.ParseMapping("m.yaml", []byte(refunds))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []recorder.Options{{}, {APIKey: key}, {APIURL: "https://deed.example.com"}} {
		var said bytes.Buffer
		o.Log, o.NoFailOpen = log.New(&said, "", 0), true
		r, err := recorder.New(mapping, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if d := r.BeforeForward(t.Context(), refund("7", "o-1")); !d.Forward || d.Err != nil {
				t.Errorf("%+v", d)
			}
		}
		if said.String() != "nothing is declared: there is no API key, or no address of the API\n" {
			t.Errorf("log %q", said.String())
		}
	}
}

func TestARecorderNeedsAMapping(t *testing.T) {
	t.Parallel()
	if _, err := recorder.New(nil, recorder.Options{}); err == nil {
		t.Error("there was no error")
	}
}

func TestOptionsGoBeforeTheMapping(t *testing.T) {
	t.Parallel()
	b := newBench(t, recorder.Options{AgentID: "night-bot", WorkflowID: "nights"}, answers(201, created))
	b.BeforeForward(t.Context(), refund("7", "o-1"))
	if posted := b.posted(); len(posted) != 1 || !strings.Contains(posted[0], `"agent_id":"night-bot","workflow_id":"nights"`) {
		t.Errorf("posted %q", posted)
	}
}

func TestLoadMappingReadsAFile(t *testing.T) {
	t.Parallel()
	m, err := recorder.LoadMapping("../examples/coinbase.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, mapped := m.Tool("orders_create"); !mapped {
		t.Error("orders_create is not mapped")
	}
	if _, err := recorder.LoadMapping("missing.json"); err == nil {
		t.Error("a file that is not there was read")
	}
}
