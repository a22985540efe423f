package backoffice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Caller is a program that uses the office.
type Caller struct {
	address string
	http    http.Client
}

// NewCaller uses the office at an address.
func NewCaller(address string) *Caller {
	return &Caller{address: strings.TrimRight(address, "/"), http: http.Client{Timeout: 10 * time.Second}}
}

// PayBack has money paid back.
func (c *Caller) PayBack(ctx context.Context, p Payment) error { return c.post(ctx, "/refunds", p) }

// Approve keeps an approval.
func (c *Caller) Approve(ctx context.Context, consent Consent) error {
	return c.post(ctx, "/approvals", consent)
}

func (c *Caller) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write to the back office: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("ask the back office: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("ask the back office: %w", err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return fmt.Errorf("ask the back office: %w", err)
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("the back office refuses %s: %s", path, strings.TrimSpace(string(said)))
	}
	return nil
}
