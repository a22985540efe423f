//go:build unix

package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// client asks the server with one credential. It goes on asking while the server
// is away, as a client may that sends the same again.
type client struct {
	urls       func() string // where to ask next
	credential string
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	body   string
}

func (r *refusal) Error() string { return fmt.Sprintf("answered %d: %s", r.status, r.body) }

// again says that an answer is one after which the same may be sent again.
func (r *refusal) again() bool {
	return r.status == http.StatusTooManyRequests || r.status >= http.StatusInternalServerError
}

// impatient gives up on a server that does not answer. One that was killed hangs up.
var impatient = &http.Client{Timeout: patience / 2}

// once asks once.
func (c *client) once(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.urls()+path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.credential != "" {
		r.Header.Set("Authorization", "Bearer "+c.credential)
	}
	got, err := impatient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode >= http.StatusBadRequest {
		return &refusal{status: got.StatusCode, body: string(text)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// ask asks until there is an answer that counts.
func (c *client) ask(ctx context.Context, method, path string, body, answer any) error {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := c.once(ctx, method, path, body, answer)
		var refused *refusal
		if err == nil || errors.As(err, &refused) && !refused.again() {
			return wrap(err, method, path)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return wrap(fmt.Errorf("gave up: %w", err), method, path)
		}
	}
}

func wrap(err error, method, path string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", method, path, err)
}

// all reads a list to its end.
func all[T any](ctx context.Context, c *client, path, member string, filters url.Values) ([]T, error) {
	var found []T
	query := url.Values{}
	for name, values := range filters {
		query[name] = values
	}
	query.Set("limit", "200")
	for {
		var page map[string]json.RawMessage
		if err := c.ask(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		var part []T
		if err := json.Unmarshal(page[member], &part); err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", member, path, err)
		}
		found = append(found, part...)
		var next *string
		if err := json.Unmarshal(page["next_cursor"], &next); err != nil {
			return nil, fmt.Errorf("read next_cursor of %s: %w", path, err)
		}
		if next == nil {
			return found, nil
		}
		query.Set("cursor", *next)
	}
}
