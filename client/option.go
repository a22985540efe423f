package client

import (
	"errors"
	"net/http"

	"github.com/deed-dev/deed/internal/remote"
)

// Option changes how a client works.
type Option func(*options)

type options struct {
	http     *http.Client
	tries    int
	failOpen bool
}

// WithHTTPClient sends requests with another client. Its redirects are not
// followed, whatever it says: a key goes to one address only.
func WithHTTPClient(c *http.Client) Option { return func(o *options) { o.http = c } }

// WithTries sends a request at most n times. Without it, 6 times.
func WithTries(n int) Option { return func(o *options) { o.tries = n } }

// FailOpen lets [Actions.Do] act although the action could not be declared.
func FailOpen() Option { return func(o *options) { o.failOpen = true } }

func gather(all []Option) options {
	var o options
	for _, option := range all {
		option(&o)
	}
	return o
}

func open(address, key string, o options) (*remote.Conn, error) {
	if key == "" {
		return nil, errors.New("an API key is needed: deed key create makes one")
	}
	return remote.Open(address, key, remote.Options{Client: o.http, Tries: o.tries, Agent: "deed-go"})
}

// Error is what the server answered in place of what was asked for.
type Error remote.Error

func (e *Error) Error() string { return (*remote.Error)(e).Error() }

// UnreachableError says that nothing, or nothing whole, came back. Whether the
// server has what was sent is not known; sending it again is right.
type UnreachableError struct {
	Address string
	Err     error
}

func (e *UnreachableError) Error() string { return "reach " + e.Address + ": " + e.Err.Error() }
func (e *UnreachableError) Unwrap() error { return e.Err }

// told gives errors of the connection their public types.
func told(err error) error {
	if fault, ok := errors.AsType[*remote.Error](err); ok {
		return (*Error)(fault)
	}
	if lost, ok := errors.AsType[*remote.UnreachableError](err); ok {
		return &UnreachableError{Address: lost.Address, Err: lost.Err}
	}
	return err
}
