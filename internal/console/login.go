package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrNoLogin says that nobody is logged in.
var ErrNoLogin = errors.New("you are not logged in")

// ErrBadLogin says that the file of the login holds something else.
var ErrBadLogin = errors.New(loginFile + " is there and holds no login")

// Login is a member's session with a server, as it is kept between commands.
type Login struct {
	Address   string    `json:"address"`
	Token     string    `json:"token"`
	Actor     string    `json:"actor"`
	Workspace string    `json:"workspace"`
	ExpiresAt time.Time `json:"expires_at"`
}

// String names the login without its token.
func (l Login) String() string { return l.Actor + " at " + l.Address }

// GoString is String.
func (l Login) GoString() string { return l.String() }

const loginFile = "login.json"

// Keep writes the login into a folder, readable by its owner only. A login that
// was there is replaced whole or not at all.
func (l Login) Keep(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the login: %w", err)
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("write the login: %w", err)
	}
	file, err := os.CreateTemp(folder, loginFile+".*") // made with 0600
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(folder, loginFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep the login: %w", err), os.Remove(file.Name()))
	}
	return nil
}

// FindLogin reads the login of a folder. Errors: [ErrNoLogin], [ErrBadLogin].
func FindLogin(folder string) (Login, error) {
	path := filepath.Join(folder, loginFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Login{}, ErrNoLogin
	}
	if err != nil {
		return Login{}, fmt.Errorf("read the login: %w", err)
	}
	var l Login
	if err := json.Unmarshal(text, &l); err != nil || l.Address == "" || l.Token == "" {
		return Login{}, ErrBadLogin
	}
	return l, nil
}

// Forget removes the login of a folder; none is fine.
func Forget(folder string) error {
	err := os.Remove(filepath.Join(folder, loginFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the login: %w", err)
	}
	return nil
}

// ReadLink takes a sign-in link apart: the server's address and the token.
func ReadLink(link string) (address, token string, err error) {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Fragment == "" || !strings.HasSuffix(u.Path, "/sign-in") {
		return "", "", errors.New("this is no sign-in link; one looks like https://deed.example.com/sign-in#TOKEN")
	}
	token = u.Fragment
	u.Fragment, u.RawQuery, u.Path = "", "", strings.TrimSuffix(u.Path, "/sign-in")
	return u.String(), token, nil
}
