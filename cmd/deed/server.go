package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

// serverFlags say which server is asked, as whom, and how its answer is shown.
type serverFlags struct {
	Server string `help:"Address of the server; else $DEED_API_URL, else where you are logged in." placeholder:"URL"`
	As     string `help:"Whose credential to use: key is $DEED_API_KEY, login the member who is logged in. Without it the key, if there is one." placeholder:"key|login" enum:",key,login" default:""`
	JSON   bool   `help:"The server's answer as JSON, for programs." name:"json"`
}

// pageFlags are those of lists that come in pages.
type pageFlags struct {
	Limit  int    `help:"How many at most, up to 200." default:"50"`
	Cursor string `help:"Go on where the page before ended." placeholder:"CURSOR"`
}

func (p pageFlags) set(query url.Values) url.Values {
	query.Set("limit", strconv.Itoa(p.Limit))
	return with(query, "cursor", p.Cursor)
}

// with adds a parameter that was given.
func with(query url.Values, name, value string) url.Values {
	if value != "" {
		query.Set(name, value)
	}
	return query
}

// reached is a server with the credential that it is asked with.
type reached struct {
	*remote.Conn
	key   bool // an API key's; else a member's
	login bool // a member is logged in there, whose credential it is or is not
}

// Values of --as.
const (
	asKey   = "key"
	asLogin = "login"
)

// connect opens a connection with the credential that --as names; without it that is the
// key, which somebody put into the environment of this command, else the login. A login's
// token goes to no other server than its own.
func (f serverFlags) connect(w *world) (*reached, error) {
	folder, err := w.folder()
	if err != nil {
		return nil, err
	}
	login, err := console.FindLogin(folder)
	if errors.Is(err, console.ErrBadLogin) {
		return nil, terminal.WithHint(err, "log in again: deed login LINK\nor remove it: deed logout")
	}
	if err != nil && !errors.Is(err, console.ErrNoLogin) {
		return nil, err
	}
	address := f.Server
	if address == "" {
		address = os.Getenv("DEED_API_URL")
	}
	if address == "" {
		address = login.Address
	}
	if address == "" {
		return nil, &misuse{terminal.WithHint(errors.New("it is not known which server to ask"),
			"log in: deed login LINK\nor name one: DEED_API_URL and DEED_API_KEY")}
	}
	conn, err := remote.Open(address, "", remote.Options{})
	if err != nil {
		return nil, addressError(err)
	}
	r := &reached{login: conn.Address() == login.Address}
	key := os.Getenv("DEED_API_KEY")
	if f.As == asLogin {
		key = ""
	}
	if r.key = key != ""; !r.key && r.login && f.As != asKey {
		key = login.Token
	}
	if key == "" {
		next := "log in: deed login LINK\nor set DEED_API_KEY"
		switch f.As {
		case asLogin:
			next = "log in: deed login LINK"
		case asKey:
			next = "set DEED_API_KEY"
		}
		return nil, &misuse{terminal.WithHint(fmt.Errorf("there is no credential for %s", conn.Address()), next)}
	}
	if r.Conn, err = remote.Open(address, key, remote.Options{Agent: "deed/" + buildVersion().Version}); err != nil {
		return nil, &misuse{terminal.WithHint(err, "copy the key as deed key create printed it into DEED_API_KEY")}
	}
	return r, nil
}

func addressError(err error) error {
	return &misuse{terminal.WithHint(err, "it is the address that deed serve prints, or its public-url")}
}

// exchange asks the server one thing and shows the answer.
func (f serverFlags) exchange(ctx context.Context, w *world, method, path string, query url.Values, body any, show func([]byte) (console.Answer, error)) error {
	server, err := f.connect(w)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		raw, err := server.ask(ctx, method, path, query, body)
		if err != nil {
			return err
		}
		answer, err := show(raw)
		if err != nil {
			return err
		}
		return w.answer(answer, f.JSON)
	})
}

// ask asks one thing. The error says what to do next.
func (r *reached) ask(ctx context.Context, method, path string, query url.Values, body any) (raw []byte, err error) {
	conn := r.Conn
	if !repeatable(method, path) {
		conn = conn.Once()
	}
	if _, err := conn.Call(ctx, method, path, query, body, &raw); err != nil {
		return nil, r.refused(err, path)
	}
	return raw, nil
}

// repeatable says whether a request that got no answer may go out once more. Some
// would make a second key or link, or use one up.
func repeatable(method, path string) bool {
	if method != http.MethodPost {
		return true
	}
	for _, makes := range []string{"/v1/keys", "/v1/members", "/v1/session"} {
		if strings.HasPrefix(path, makes) {
			return false
		}
	}
	return true
}

// refused adds what to do next to what a server answered.
func (r *reached) refused(err error, path string) error {
	if errors.As(err, new(*remote.UnreachableError)) {
		return unreachable(err)
	}
	fault, ok := errors.AsType[*remote.Error](err)
	if !ok {
		return err
	}
	switch fault.Code {
	case "unauthenticated":
		return terminal.WithHint(err, r.wayIn())
	case "insufficient_scope":
		return terminal.WithHint(err, r.scopeHint(fault.RequiredScope))
	case "forbidden":
		if r.key {
			return terminal.WithHint(err, "what this key may do: deed whoami\nwhat keys may not do at all, a member may: "+r.asMember())
		}
		return terminal.WithHint(err, "what you may do: deed whoami\nwho may do more: deed member list")
	case "plan_required":
		return terminal.WithHint(err, "what the plan has: deed workspace usage\nonly whoever runs the server puts a workspace on another one: deed host plan WORKSPACE PLAN")
	case "confirmation_required":
		return terminal.WithHint(err, "prove that it is you: deed confirm\nwithout a password: sign in anew by a link, then set one: deed password")
	case "not_found":
		return &misuse{terminal.WithHint(err, "what there is: "+listOf(path))}
	case "conflict":
		return &misuse{terminal.WithHint(err, "nothing was changed; what there is: "+listOf(path))}
	case "invalid_request", "invalid_contract":
		return &misuse{terminal.WithHint(err, "nothing was changed; put that right and run it again")}
	}
	return terminal.WithHint(err, later(fault))
}

// asMember is how to ask as a member instead of by a key.
func (r *reached) asMember() string {
	if r.login {
		return "add --as login"
	}
	return "deed login LINK, then add --as login"
}

func unreachable(err error) error {
	return terminal.WithHint(err, "is the server running there? deed serve starts one on this machine\nanother one: --server URL, or DEED_API_URL")
}

// later is what to do about an answer that may be another one later.
func later(fault *remote.Error) string {
	switch {
	case fault.Code == "rate_limited":
		return fmt.Sprintf("wait %s and run it again", fault.RetryAfter)
	case fault.RequestID != "":
		return "run it again later; the server's log knows more of the request " + fault.RequestID
	}
	return "is this the address of a Deed server? deed serve prints its own"
}

// wayIn is what to do about a credential that is not taken.
func (r *reached) wayIn() string {
	if r.key {
		return "is DEED_API_KEY whole, and a key of this server? which work: deed key list"
	}
	return "log in again: deed login " + r.Address() + " --email EMAIL\nwithout a password another member makes you a link: deed member link ID\nor whoever runs the server: deed host link WORKSPACE EMAIL"
}

// scopeHint is where a scope can be got.
func (r *reached) scopeHint(scope string) string {
	if scope == "facts:write" {
		return "only a key may, which an admin makes: deed key create NAME --preset evidence --source SOURCE\nset it as DEED_API_KEY"
	}
	preset := "reader"
	if scope == "actions:record" {
		preset = "recorder"
	}
	hint := "a key that holds it: deed key create NAME --preset " + preset
	switch {
	case r.key && r.login:
		hint += "\nor ask as the member who is logged in: --as login"
	case r.key:
		hint += "\nor log in: deed login LINK"
	}
	return hint
}

// listOf is the command that lists what a path names one of.
func listOf(path string) string {
	for _, one := range []struct{ path, command string }{
		{"/v1/sources", "deed source list"},
		{"/v1/contracts", "deed contract list"},
		{"/v1/orphans", "deed contract list"},
		{"/v1/keys", "deed key list"},
		{"/v1/members", "deed member list"},
	} {
		if strings.HasPrefix(path, one.path) {
			return one.command
		}
	}
	return "deed action list"
}

// part escapes a part of a path.
func part(text string) string { return "/" + url.PathEscape(text) }

// said shows one sentence in place of an answer without a body.
func said(format string, values ...any) func([]byte) (console.Answer, error) {
	return func(raw []byte) (console.Answer, error) {
		if len(raw) == 0 {
			raw = []byte("{}")
		}
		return console.Said(raw, format, values...), nil
	}
}
