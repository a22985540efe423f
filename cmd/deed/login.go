package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

type loginCmd struct {
	Link      string `arg:"" help:"The sign-in link, - to read it from standard input, or the server's address with --email."`
	Email     string `help:"Sign in with a password instead of a link." placeholder:"ADDRESS"`
	Workspace string `help:"Which workspace, for members of several." placeholder:"ID"`
	JSON      bool   `help:"The session as JSON, without its token." name:"json"`
}

// Help is printed under the flags of deed login --help.
func (loginCmd) Help() string {
	return `Example:

    deed login 'http://127.0.0.1:7373/sign-in#TOKEN'
    deed login - < what-deed-serve-printed.txt
    deed login https://deed.example.com --email ada@example.com

Signs you in for the commands on this machine. A link is what deed serve printed
at its first start, or what another member got from deed member invite or deed
member link; it works once, for three days. A password is asked for, or read
from standard input.

The session is kept in login.json in the folder of --home, readable by you only,
and ends by itself after a day. deed logout ends it now.`
}

func (c *loginCmd) Run(ctx context.Context, w *world) error {
	address, body := c.Link, map[string]string{}
	switch {
	case c.Email == "" && c.Workspace != "":
		return &misuse{terminal.WithHint(errOnlyWith("--workspace", "--email"), "a link is of one workspace")}
	case c.Email == "":
		link, err := c.link(w)
		if err != nil {
			return err
		}
		if address, body["link"], err = console.ReadLink(link); err != nil {
			return &misuse{terminal.WithHint(err, "copy it whole, in single quotes\nwith a password: deed login ADDRESS --email EMAIL")}
		}
	default:
		password, err := w.password("password of " + c.Email)
		if err != nil {
			return err
		}
		body["email"], body["password"] = c.Email, password
		if c.Workspace != "" {
			body["workspace_id"] = c.Workspace
		}
	}
	conn, err := remote.Open(address, "", remote.Options{})
	if err != nil {
		return addressError(err)
	}
	return interruptible(ctx, func(ctx context.Context) error {
		var raw []byte
		if _, err := conn.Once().Call(ctx, http.MethodPost, "/v1/session", nil, body, &raw); err != nil {
			return c.refused(err, &reached{Conn: conn})
		}
		login, err := w.keepLogin(conn, raw)
		if err != nil {
			return err
		}
		return w.answer(console.Said(login.shown, "you are %s in %s at %s, until %s", login.Actor, login.Workspace, login.Address, w.clock.Moment(login.ExpiresAt)), c.JSON)
	})
}

// link is the link that was given: standing among the arguments, others on this
// machine can read it until it is used.
func (c *loginCmd) link(w *world) (string, error) {
	if c.Link != "-" {
		return c.Link, nil
	}
	text, err := io.ReadAll(io.LimitReader(w.stdin, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read the sign-in link: %w", err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		if strings.Contains(word, "/sign-in#") {
			return word, nil
		}
	}
	return "", &misuse{terminal.WithHint(errors.New("there is no sign-in link on standard input"), "give it the link, or what deed serve printed")}
}

func (c *loginCmd) refused(err error, server *reached) error {
	fault, ok := errors.AsType[*remote.Error](err)
	switch {
	case ok && fault.Code == "unauthenticated" && c.Email == "":
		return terminal.WithHint(err, "a link works once, for three days; another member makes a new one: deed member link ID\nor whoever runs the server: deed host link WORKSPACE EMAIL")
	case ok && fault.Code == "unauthenticated":
		return terminal.WithHint(err, "without a password sign in by a link, which another member makes: deed member link ID")
	case ok && len(fault.Workspaces) > 0:
		return &misuse{terminal.WithHint(err, "say which, --workspace ID: "+strings.Join(fault.Workspaces, " "))}
	}
	return server.refused(err, "/v1/session")
}

// keptLogin is a login that was kept, and its session for programs, without the token.
type keptLogin struct {
	console.Login
	shown []byte
}

// keepLogin keeps the session that a server's answer has.
func (w *world) keepLogin(conn *remote.Conn, raw []byte) (keptLogin, error) {
	var answer struct {
		Token   string
		Session json.RawMessage
	}
	var session struct {
		Actor     string
		Workspace struct{ Name string }
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return keptLogin{}, fmt.Errorf("read the server's answer: %w", err)
	}
	if err := json.Unmarshal(answer.Session, &session); err != nil {
		return keptLogin{}, fmt.Errorf("read the server's answer: %w", err)
	}
	folder, err := w.folder()
	if err != nil {
		return keptLogin{}, err
	}
	login := console.Login{
		Address: conn.Address(), Token: answer.Token, Actor: session.Actor, Workspace: session.Workspace.Name, ExpiresAt: session.ExpiresAt,
	}
	if err := login.Keep(folder); err != nil {
		return keptLogin{}, err
	}
	shown, err := json.Marshal(map[string]any{"address": login.Address, "session": answer.Session})
	if err != nil {
		return keptLogin{}, fmt.Errorf("show the session: %w", err)
	}
	return keptLogin{Login: login, shown: shown}, nil
}

// password asks for a password without showing it, or reads it from a pipe.
func (w *world) password(what string) (string, error) {
	file, ok := w.stdin.(*os.File)
	if !ok || !w.asks {
		return w.line("password")
	}
	fmt.Fprintf(w.stderr, "%s: ", terminal.Clean(what))
	text, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(w.stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}

// newPassword asks twice where nobody sees what is typed.
func (w *world) newPassword() (string, error) {
	first, err := w.password("your new password")
	if err != nil || !w.asks {
		return first, err
	}
	second, err := w.password("the same again")
	if err == nil && first != second {
		err = &misuse{terminal.WithHint(errors.New("these are two different passwords"), "nothing was changed; run it again")}
	}
	return first, err
}

// line reads one line of standard input and nothing beyond, so that the next
// question finds the next line.
func (w *world) line(what string) (string, error) {
	var text []byte
	one := make([]byte, 1)
	for {
		n, err := w.stdin.Read(one)
		if n == 1 && one[0] != '\n' {
			text = append(text, one[0])
		}
		if n == 1 && one[0] == '\n' || err == io.EOF {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read the %s: %w", what, err)
		}
	}
	line := strings.TrimRight(string(text), "\r")
	if line == "" {
		return "", &misuse{terminal.WithHint(fmt.Errorf("no %s was given", what), "give it on standard input, or run this in a terminal")}
	}
	return line, nil
}

type logoutCmd struct {
	JSON bool `help:"An empty document, for programs." name:"json"`
}

// Help is printed under the flags of deed logout --help.
func (logoutCmd) Help() string {
	return `Example:

    deed logout

Ends the session at the server and removes it here. If the server cannot be
reached it is removed here all the same, and the command says so.`
}

func (c *logoutCmd) Run(ctx context.Context, w *world) error {
	folder, err := w.folder()
	if err != nil {
		return err
	}
	login, err := console.FindLogin(folder)
	if errors.Is(err, console.ErrNoLogin) {
		return w.answer(console.Said([]byte("{}"), "you were not logged in"), c.JSON)
	}
	if err != nil {
		if gone := console.Forget(folder); gone != nil {
			return errors.Join(err, gone)
		}
		return terminal.WithHint(err, "it is removed; a session that was in it ends by itself within a day")
	}
	conn, err := remote.Open(login.Address, login.Token, remote.Options{Tries: 1})
	if err == nil {
		_, err = conn.Call(ctx, http.MethodDelete, "/v1/session", nil, nil, nil)
	}
	if gone := console.Forget(folder); gone != nil {
		return gone
	}
	if err != nil {
		return terminal.WithHint(fmt.Errorf("the login is removed here, but the server did not end it: %w", err), "it ends by itself at "+w.clock.Moment(login.ExpiresAt))
	}
	return w.answer(console.Said([]byte("{}"), "logged out"), c.JSON)
}

type whoamiCmd struct{ serverFlags }

// Help is printed under the flags of deed whoami --help.
func (whoamiCmd) Help() string {
	return `Example:

    deed whoami

Says as whom the server sees you, in which workspace, and what you may do.`
}

func (c *whoamiCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/session", nil, nil, console.Session)
}

type confirmCmd struct{ serverFlags }

// Help is printed under the flags of deed confirm --help.
func (confirmCmd) Help() string {
	return `Example:

    deed confirm

Proves by your password that it is you, as activating contracts, making keys and
deleting ask for. It holds for 15 minutes, and so does signing in. Who has no
password signs in by a link and sets one: deed password.`
}

func (c *confirmCmd) Run(ctx context.Context, w *world) error {
	password, err := w.password("your password")
	if err != nil {
		return err
	}
	c.As = asLogin // a key is nobody who could be there
	return c.exchange(ctx, w, http.MethodPost, "/v1/session/confirm", nil, map[string]string{"password": password}, said("confirmed for 15 minutes"))
}

type passwordCmd struct {
	serverFlags
	Change bool `help:"You have one already, which is asked for first."`
}

// Help is printed under the flags of deed password --help.
func (passwordCmd) Help() string {
	return `Example:

    deed password
    deed password --change

Sets your password, of 12 characters or more. Without --change it must be at most
15 minutes ago that you signed in or confirmed. All your sessions end, but for a new
one here.`
}

func (c *passwordCmd) Run(ctx context.Context, w *world) error {
	c.As = asLogin // whose password it is
	server, err := c.connect(w)
	if err != nil {
		return err
	}
	body := map[string]string{}
	if c.Change {
		if body["current"], err = w.password("your present password"); err != nil {
			return err
		}
	}
	if body["password"], err = w.newPassword(); err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		raw, err := server.ask(ctx, http.MethodPost, "/v1/session/password", nil, body)
		if err != nil {
			return err
		}
		login, err := w.keepLogin(server.Conn, raw)
		if err != nil {
			return err
		}
		return w.answer(console.Said(login.shown, "the password is set; you are logged in here until %s, and nowhere else", w.clock.Moment(login.ExpiresAt)), c.JSON)
	})
}
