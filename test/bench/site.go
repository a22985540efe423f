package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// site is a running `deed serve` with a workspace in which agents may declare
// refunds and a connector may tell facts of stripe.
type site struct {
	name    string // of the database
	address string
	owner   string // credentials
	agent   string
	stripe  string
	cmd     *exec.Cmd
	said    *said
	gone    chan error // has how the process ended
	base    *database  // nil where it is SQLite
}

// serving is where a server keeps everything.
type serving struct {
	name   string
	folder string
	base   *database // nil: SQLite in the folder
}

// The names of the databases, as they are printed.
const (
	onSQLite   = "SQLite"
	onPostgres = "PostgreSQL"
)

// startWithin is how long a server may take to answer, on a busy machine.
const startWithin = 2 * time.Minute

// open starts a server for the first time, and makes what agents need.
func (b *bench) open(ctx context.Context, where serving) (*site, error) {
	s := &site{name: where.name, base: where.base}
	link, err := s.start(ctx, b, where, true)
	if err != nil {
		return nil, err
	}
	if err := s.furnish(ctx, link); err != nil {
		_ = s.cmd.Process.Kill()
		return nil, fmt.Errorf("%w; the server's stderr: %q", err, s.said.tail())
	}
	return s, nil
}

// start starts the process. The first start prints a link.
func (s *site) start(ctx context.Context, b *bench, where serving, first bool) (link string, err error) {
	s.said, s.gone = &said{}, make(chan error, 1)
	args := []string{"serve", "--data", where.folder, "--listen", "127.0.0.1:0"}
	// The pace of a credential is counted as ever, and is out of reach: one key does here
	// what many do elsewhere.
	environ := append(os.Environ(), "HOME="+where.folder, "DEED_LOG_LEVEL=warn", "DEED_REQUESTS_PER_SECOND=1000000")
	if where.base != nil {
		secret := filepath.Join(where.folder, "secret")
		if err := b.secret(ctx, secret); err != nil {
			return "", err
		}
		args = append(args[:1], "--secret-file", secret, "--listen", "127.0.0.1:0")
		environ = append(environ, "DEED_DATABASE="+where.base.url)
	}
	s.cmd = exec.CommandContext(ctx, b.deed, args...)
	s.cmd.Env, s.cmd.Stderr = environ, s.said
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 20 * time.Second
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := s.cmd.Start(); err != nil {
		return "", fmt.Errorf("start deed serve: %w", err)
	}
	if link, err = s.readStart(stdout, first); err != nil {
		_ = s.cmd.Process.Kill()
		return "", fmt.Errorf("%w; the server's stderr: %q", err, s.said.tail())
	}
	return link, nil
}

// secret makes the file of a server's secret, once.
func (b *bench) secret(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if text, err := exec.CommandContext(ctx, b.deed, "secret", "new", path).CombinedOutput(); err != nil {
		return fmt.Errorf("make a secret: %w: %s", err, text)
	}
	return nil
}

// readStart reads what a start prints: where the server is, and a link if it is the
// first.
func (s *site) readStart(stdout io.Reader, first bool) (link string, err error) {
	type start struct{ address, link string }
	found := make(chan start, 1)
	go func() {
		var seen start
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if _, address, is := strings.Cut(lines.Text(), "Deed serves http://"); is {
				seen.address = strings.TrimSpace(address)
			}
			if _, token, is := strings.Cut(lines.Text(), "/sign-in#"); is {
				seen.link = strings.Trim(token, " '")
			}
			if seen.address != "" && (seen.link != "" || !first) {
				select {
				case found <- seen:
				default: // it is known already
				}
			}
		}
		s.gone <- s.cmd.Wait()
	}()
	select {
	case seen := <-found:
		s.address = seen.address
		return seen.link, nil
	case err := <-s.gone:
		s.gone <- err
		return "", fmt.Errorf("the server ended before it served: %w", err)
	case <-time.After(startWithin):
		return "", errors.New("the server did not start")
	}
}

// furnish signs the owner in, connects sources, activates the contract of refunds
// and makes keys.
func (s *site) furnish(ctx context.Context, link string) error {
	var session struct {
		Token string `json:"token"`
	}
	if err := s.ask(ctx, http.MethodPost, "/v1/session", object{"link": link}, &session); err != nil {
		return err
	}
	s.owner = session.Token
	const password = "a horse, a battery and a staple"
	if err := s.ask(ctx, http.MethodPost, "/v1/session/password", object{"password": password}, &session); err != nil {
		return err
	}
	s.owner = session.Token
	steps := []struct {
		path string
		body object
	}{
		{"/v1/sources", object{"name": "stripe", "trust": "independent", "resolution": "1us"}},
		{"/v1/sources", object{"name": "zendesk", "trust": "attested", "resolution": "1us"}},
		{"/v1/sources", object{"name": "approvals", "trust": "attested", "resolution": "1us"}},
		{"/v1/contracts", object{"yaml": string(refundContract)}},
		{"/v1/contracts/refund_workflow/versions/1/activate", object{"mode": "live"}},
	}
	for _, step := range steps {
		if err := s.ask(ctx, http.MethodPost, step.path, step.body, nil); err != nil {
			return err
		}
	}
	var key struct {
		Secret string `json:"secret"`
	}
	if err := s.ask(ctx, http.MethodPost, "/v1/keys", object{"name": "agent", "preset": "recorder"}, &key); err != nil {
		return err
	}
	s.agent = key.Secret
	err := s.ask(ctx, http.MethodPost, "/v1/keys", object{"name": "stripe", "preset": "evidence", "sources": []string{"stripe"}}, &key)
	s.stripe = key.Secret
	return err
}

type object map[string]any

// ask is for what is not measured, as the owner.
func (s *site) ask(ctx context.Context, method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.owner != "" {
		r.Header.Set("Authorization", "Bearer "+s.owner)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer got.Body.Close()
	text, err = io.ReadAll(got.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if got.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s answered %d: %s", method, path, got.StatusCode, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// close ends the server as an operator does.
func (s *site) close() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	select {
	case err := <-s.gone:
		if err != nil {
			return fmt.Errorf("end the server: %w; its stderr: %q", err, s.said.tail())
		}
		return nil
	case <-time.After(startWithin):
		_ = s.cmd.Process.Kill()
		return errors.New("the server did not end")
	}
}
