package recorder

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are how a [Recorder] works. Printing them, however that is asked
// for, never shows the key.
type Options struct {
	APIKey string // of a workspace; without it nothing is declared
	APIURL string // such as https://deed.example.com; without it nothing is declared

	AgentID, WorkflowID string // in place of those of the mapping; empty: the mapping's

	// Session tells this connection from all others in the ids of actions
	// whose tool has no template. Empty: a random one, so that two recorders
	// never take one action for the other's.
	Session string

	Timeout      time.Duration // for one declaration; 0: five seconds
	NoFailOpen   bool          // refuse a call whose declaration failed
	WarnUnmapped bool          // log each tool that is called and not mapped, once

	// Client sends the declarations; nil: one of its own. Redirects are not
	// followed whatever it says, because the key would go with them.
	Client *http.Client
	Log    *log.Logger // one line for each event; nil: nothing is logged
}

// Format prints the options without the key, for every verb.
func (o Options) Format(state fmt.State, _ rune) {
	key := "none"
	if o.APIKey != "" {
		key = "hidden"
	}
	fmt.Fprintf(state, "{key %s, url %s, agent %q, workflow %q, session %q, timeout %s, no fail open %t, warn unmapped %t}",
		key, shownURL(o.APIURL), o.AgentID, o.WorkflowID, o.Session, o.Timeout, o.NoFailOpen, o.WarnUnmapped)
}

// MarshalJSON refuses: options are written nowhere.
func (Options) MarshalJSON() ([]byte, error) {
	return nil, errors.New("options of a recorder have a key in them and are not written")
}

func shownURL(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return "(no URL)"
	}
	return address.Redacted()
}

// defaultTimeout for one declaration.
const defaultTimeout = 5 * time.Second

// endpoint is where declarations are posted; empty if there is nowhere.
func (o Options) endpoint() (string, error) {
	if o.APIKey == "" || o.APIURL == "" {
		return "", nil
	}
	address, err := url.Parse(o.APIURL)
	switch {
	case err != nil:
		return "", errors.New("the API's address is no URL")
	case address.Scheme != "https" && address.Scheme != "http" || address.Host == "":
		return "", fmt.Errorf("the API's address %s does not begin with https:// and a host", shownURL(o.APIURL))
	case address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return "", errors.New("the API's address has more than a host and a path; the key belongs into APIKey")
	case strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("the API key has a character that no key has, such as a line end")
	}
	return strings.TrimRight(address.String(), "/") + "/v1/actions", nil
}

// client is a copy of the caller's, or a new one, that follows no redirect.
func (o Options) client() *http.Client {
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (o Options) logger() *log.Logger {
	if o.Log == nil {
		return log.New(io.Discard, "", 0)
	}
	return o.Log
}
