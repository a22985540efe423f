package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

// keyCmd is deed key.
type keyCmd struct {
	List   keyListCmd   `cmd:"" help:"The API keys, without secrets."`
	Create keyCreateCmd `cmd:"" help:"Make an API key; it is shown once."`
	Rotate keyRotateCmd `cmd:"" help:"Replace an API key, with a time in which both work."`
	Revoke keyRevokeCmd `cmd:"" help:"End an API key at once."`
}

type keyListCmd struct{ serverFlags }

// Help is printed under the flags of deed key list --help.
func (keyListCmd) Help() string { return "Example:\n\n    deed key list" }

func (c *keyListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/keys", nil, nil, console.Keys)
}

type keyCreateCmd struct {
	serverFlags
	secretFlags
	Name       string   `arg:"" help:"What the key is for, for people."`
	Preset     string   `help:"recorder, evidence, reader or full." placeholder:"NAME"`
	Scope      []string `help:"A scope in place of a preset; give it again for more." placeholder:"SCOPE"`
	Source     []string `help:"A source whose facts it may write; give it again for more." placeholder:"NAME"`
	Contract   []string `help:"Only actions of this contract; give it again for more." placeholder:"ID"`
	ActionType []string `help:"Only actions of this type; give it again for more." placeholder:"TYPE"`
	Agent      []string `help:"Only actions of this agent; give it again for more." placeholder:"ID"`
	Expires    string   `help:"When it ends; never without it." placeholder:"TIME"`
}

// Help is printed under the flags of deed key create --help.
func (keyCreateCmd) Help() string {
	return `Example:

    deed key create "refund agent" --preset recorder --contract refund_workflow
    deed key create "stripe facts" --preset evidence --source stripe --to stripe.key
    deed key create dashboard --preset reader

A recorder key declares actions and reads verdicts. An evidence key writes facts
of the sources it names. One key cannot do both, except where an owner switched
the workspace to development.`
}

func (c *keyCreateCmd) Run(ctx context.Context, w *world) error {
	body := map[string]any{"name": c.Name}
	switch {
	case c.Preset != "" && len(c.Scope) > 0:
		return &misuse{errTogether("--preset", "--scope")}
	case c.Preset != "":
		body["preset"] = c.Preset
	case len(c.Scope) > 0:
		body["scopes"] = c.Scope
	default:
		return &misuse{errNothingAsked("what the key may do (--preset)", "deed key create \"refund agent\" --preset recorder")}
	}
	if len(c.Source) > 0 {
		body["sources"] = c.Source
	}
	limits := map[string][]string{}
	for name, values := range map[string][]string{"contracts": c.Contract, "action_types": c.ActionType, "agents": c.Agent} {
		if len(values) > 0 {
			limits[name] = values
		}
	}
	if len(limits) > 0 {
		body["limits"] = limits
	}
	if c.Expires != "" {
		body["expires_at"] = c.Expires
	}
	err := c.mint(ctx, w, c.serverFlags, "/v1/keys", body)
	if fault, ok := errors.AsType[*remote.Error](err); ok && fault.Code == "forbidden" && strings.Contains(fault.Message, "development") {
		return terminal.WithHint(fault, "better two keys, so that nobody proves what they declared; to try things out: deed workspace set --development on")
	}
	return err
}

// secretFlags say where a new key goes.
type secretFlags struct {
	To string `help:"Write the key into this new file, for its owner only, instead of printing it." placeholder:"FILE"`
}

// mint has the server make a key.
func (f secretFlags) mint(ctx context.Context, w *world, flags serverFlags, path string, body any) error {
	if f.To == "" {
		return flags.exchange(ctx, w, http.MethodPost, path, nil, body, console.NewKey)
	}
	// The file comes first: a key whose secret cannot be kept must not be made.
	file, err := os.OpenFile(f.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &misuse{terminal.WithHint(fmt.Errorf("make the file of the key: %w", err), "name one that is not there yet; no key was made")}
	}
	err = flags.exchange(ctx, w, http.MethodPost, path, nil, body, func(raw []byte) (console.Answer, error) {
		return console.KeyWithout(raw, func(secret string) error {
			_, err := file.WriteString(secret + "\n")
			return errors.Join(err, file.Sync())
		}, f.To)
	})
	info, _ := file.Stat()
	closed := file.Close()
	if err != nil && info != nil && info.Size() == 0 {
		_ = os.Remove(f.To) // it was made here, and is empty
	}
	if err == nil && closed != nil {
		err = fmt.Errorf("close the file of the key: %w", closed)
	}
	return err
}

type keyRotateCmd struct {
	serverFlags
	secretFlags
	ID      string `arg:"" help:"The key's id."`
	Overlap string `help:"How long the old key works beside the new one, up to 720h." default:"0s"`
}

// Help is printed under the flags of deed key rotate --help.
func (keyRotateCmd) Help() string {
	return "Example:\n\n    deed key rotate key_01kb3fz8s0 --overlap 24h"
}

func (c *keyRotateCmd) Run(ctx context.Context, w *world) error {
	return c.mint(ctx, w, c.serverFlags, "/v1/keys"+part(c.ID)+"/rotate", map[string]string{"overlap": c.Overlap})
}

type keyRevokeCmd struct {
	serverFlags
	ID string `arg:"" help:"The key's id."`
}

// Help is printed under the flags of deed key revoke --help.
func (keyRevokeCmd) Help() string { return "Example:\n\n    deed key revoke key_01kb3fz8s0" }

func (c *keyRevokeCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodDelete, "/v1/keys"+part(c.ID), nil, nil, said("the key %s is revoked", c.ID))
}
