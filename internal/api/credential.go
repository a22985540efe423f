package api

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
)

// Authenticator finds out whom a credential belongs to; see [account.Service] for
// the errors.
type Authenticator interface {
	Authenticate(ctx context.Context, c account.Credential, via access.Surface) (access.Principal, error)
}

const (
	keyHeader = "X-Api-Key"
	scheme    = "bearer"
)

// credentialOf takes the one credential that a request carries, in either header
// or in both. Two that differ are none: which of them counts must never depend on
// the order in which somebody looks. A cookie is never looked at.
func credentialOf(h http.Header) (string, error) {
	var found string
	for _, key := range h.Values(keyHeader) {
		// Whatever logs or keeps headers knows that a key stands there, and no session.
		if account.IsSession(strings.TrimSpace(key)) {
			return "", &credentialError{problem: "a session token stands where an API key belongs; send it as a bearer"}
		}
		if err := agree(&found, key); err != nil {
			return "", err
		}
	}
	for _, line := range h.Values("Authorization") {
		given, token, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.EqualFold(given, scheme) {
			return "", &credentialError{problem: "the Authorization header is no bearer"}
		}
		if err := agree(&found, token); err != nil {
			return "", err
		}
	}
	if found == "" {
		return "", &credentialError{problem: "there is no credential; send an API key as x-api-key or as a bearer"}
	}
	return found, nil
}

func agree(found *string, given string) error {
	given = strings.TrimSpace(given)
	switch {
	case given == "":
		return &credentialError{problem: "a credential header is empty"}
	case *found != "" && subtle.ConstantTimeCompare([]byte(*found), []byte(given)) == 0:
		return &credentialError{problem: "there are two credentials and they differ; send one"}
	}
	*found = given
	return nil
}

// admit says whether the principal may do what an endpoint needs.
func (n *need) admit(c *call) error {
	p := c.principal
	switch {
	case n.scope != 0:
		if err := p.Require(n.scope); err != nil || n.also == 0 {
			return err
		}
		return p.Require(n.also)
	case n.member && p.Member() == "", n.member && p.ModelFacing():
		return &memberError{}
	case n.permission == 0:
		return nil
	}
	permission := n.permission
	if n.proposal && p.Member() == "" {
		permission = access.ProposeContract
	}
	err := p.May(permission, c.at)
	if n.listing && access.CodeOf(err) == access.ConfirmationRequired {
		return nil
	}
	return err
}

// memberError says that only a person may do it.
type memberError struct{}

func (e *memberError) Error() string { return "only a signed-in member may do this" }

// Code is [access.Forbidden].
func (e *memberError) Code() access.Code { return access.Forbidden }
