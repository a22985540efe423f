package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/value"
)

// call is a request that may be served: its principal may do what the endpoint
// needs, and its parameters are read.
type call struct {
	*Server
	ctx       context.Context
	endpoint  *endpoint
	request   *http.Request
	writer    http.ResponseWriter // for its deadlines; answers are returned
	principal access.Principal
	// credential is what the principal came with, for what is done to a session.
	credential account.Credential
	query      query
	at         value.Instant
	remote     string
}

// path is a part of the path, without its escapes. What no database can hold is
// found nowhere.
func (c *call) path(name string) string { return c.request.PathValue(name) }

// read returns the body, which the endpoint's limit bounds.
func (c *call) read() ([]byte, error) {
	text, err := io.ReadAll(c.request.Body)
	if err != nil {
		return nil, bodyError(err, c.endpoint.body.limitBytes)
	}
	// From here on the deadline would only look like a client that is gone.
	_ = http.NewResponseController(c.writer).SetReadDeadline(time.Time{})
	if len(text) == 0 {
		return nil, &RequestError{Message: "the body is empty; send a JSON object"}
	}
	return text, nil
}

// with makes a handler of one that takes a decoded body.
func with[T any](serve func(*call, *T) (reply, error)) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		text, err := c.read()
		if err != nil {
			return reply{}, err
		}
		in := new(T)
		if err := decode(text, in); err != nil {
			return reply{}, err
		}
		return serve(c, in)
	}
}

// answered makes a reply of what a service returned.
func answered[T any](content T, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return reply{content: content}, nil
}

// number reads a part of the path that is a version.
func (c *call) number(name string) (int, error) {
	n := 0
	text := c.path(name)
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 1 || fmt.Sprint(n) != text {
		return 0, &NotFoundError{What: "version " + clean(text)}
	}
	return n, nil
}
