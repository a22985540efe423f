package demo

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/backoffice"
	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
)

// The contract of the demonstration and the mapping of its shop.
var (
	//go:embed refund.yaml
	contractText string
	//go:embed refund.map.yaml
	mappingText string
)

// verifier is a Deed server of the demonstration, and the owner's session with it.
type verifier struct {
	process *background
	address string
	owner   *remote.Conn
	login   console.Login
	// recorder declares and cannot write facts, evidence writes facts and cannot
	// declare.
	recorder, evidence string
}

// startVerifier starts a server that knows nothing, and sets it up the way its
// owner would: signed in by the link of the first start.
func (d *Demo) startVerifier(ctx context.Context, home string) (v *verifier, err error) {
	process, err := d.start("verifier", home, nil, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(home, "server"))
	if err != nil {
		return nil, err
	}
	v = &verifier{process: process}
	defer func() {
		if err != nil {
			_ = process.stop() // why it failed is told already
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, d.limits.start)
	defer cancel()
	if v.address, err = process.await(ctx, "Deed serves "); err != nil {
		return nil, err
	}
	link, err := process.await(ctx, "/sign-in#")
	if err != nil {
		return nil, err
	}
	// The link is printed twice, the second time within quotes.
	if err := v.signIn(ctx, strings.TrimSuffix(link, "'")); err != nil {
		return nil, err
	}
	return v, v.setUp(ctx, d.props.contract)
}

func (v *verifier) signIn(ctx context.Context, token string) error {
	anybody, err := remote.Open(v.address, "", remote.Options{})
	if err != nil {
		return err
	}
	var session struct {
		Token   string
		Session struct {
			Actor     string
			Workspace struct{ Name string }
			ExpiresAt time.Time `json:"expires_at"`
		}
	}
	if _, err := anybody.Call(ctx, http.MethodPost, "/v1/session", nil, map[string]string{"link": token}, &session); err != nil {
		return fmt.Errorf("sign in to the verifier: %w", err)
	}
	v.login = console.Login{
		Address: v.address, Token: session.Token, Actor: session.Session.Actor,
		Workspace: session.Session.Workspace.Name, ExpiresAt: session.Session.ExpiresAt,
	}
	v.owner, err = remote.Open(v.address, session.Token, remote.Options{})
	return err
}

// setUp makes the sources, the contract and the two keys.
func (v *verifier) setUp(ctx context.Context, contract string) error {
	for name, provides := range map[string]string{backoffice.Payments: backoffice.RefundSucceeded, backoffice.Approvals: backoffice.ApprovalGranted} {
		source := map[string]any{"name": name, "trust": "attested", "provides": []string{provides}, "resolution": "1ms"}
		if err := v.ask(ctx, http.MethodPost, "/v1/sources", source, nil); err != nil {
			return fmt.Errorf("make the source %s: %w", name, err)
		}
	}
	var saved struct {
		Version struct {
			ContractID string `json:"contract_id"`
			Version    int
		}
	}
	if err := v.ask(ctx, http.MethodPost, "/v1/contracts", map[string]string{"yaml": contract}, &saved); err != nil {
		return fmt.Errorf("save the contract: %w", err)
	}
	activate := fmt.Sprintf("/v1/contracts/%s/versions/%d/activate", url.PathEscape(saved.Version.ContractID), saved.Version.Version)
	if err := v.ask(ctx, http.MethodPost, activate, map[string]string{"mode": "live"}, nil); err != nil {
		return fmt.Errorf("activate the contract: %w", err)
	}
	var err error
	if v.recorder, err = v.key(ctx, map[string]any{"name": "the agent's recorder", "preset": "recorder"}); err != nil {
		return err
	}
	v.evidence, err = v.key(ctx, map[string]any{"name": "the back office", "preset": "evidence", "sources": []string{backoffice.Payments, backoffice.Approvals}})
	return err
}

func (v *verifier) key(ctx context.Context, order map[string]any) (string, error) {
	var made struct{ Secret string }
	if err := v.ask(ctx, http.MethodPost, "/v1/keys", order, &made); err != nil {
		return "", fmt.Errorf("make the key of %s: %w", order["name"], err)
	}
	return made.Secret, nil
}

func (v *verifier) ask(ctx context.Context, method, path string, body, answer any) error {
	_, err := v.owner.Call(ctx, method, path, nil, body, answer)
	return err
}

// found is an action as the list has it.
type found struct {
	Action struct {
		ActionID  string `json:"action_id"`
		SubjectID string `json:"subject_id"`
	}
	Verification struct {
		Status, Badge string
		Summary       struct{ Headline string }
	}
}

func (f *found) settled() bool {
	return f.Verification.Status == "settled" || f.Verification.Status == "revised"
}

// actions reads all actions of the demonstration.
func (v *verifier) actions(ctx context.Context) ([]found, error) {
	var page struct{ Actions []found }
	_, err := v.owner.Call(ctx, http.MethodGet, "/v1/actions", url.Values{"limit": {"200"}}, nil, &page)
	return page.Actions, err
}

// effect is one that no action claims.
type effect struct {
	Source     string
	ExternalID string `json:"external_id"`
	SubjectID  string `json:"subject_id"`
	Attrs      struct {
		Amount struct{ Amount, Currency string }
	}
}

func (v *verifier) orphans(ctx context.Context) ([]effect, error) {
	var page struct{ Orphans []struct{ Fact effect } }
	_, err := v.owner.Call(ctx, http.MethodGet, "/v1/orphans", url.Values{"contract_id": {"shop_refund"}}, nil, &page)
	var all []effect
	for _, o := range page.Orphans {
		all = append(all, o.Fact)
	}
	return all, err
}
