package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/vault"
)

// secretCmd is deed secret, which makes what servers seal with.
type secretCmd struct {
	New    secretNewCmd    `cmd:"" help:"Make the secret that servers of one database share."`
	Rotate secretRotateCmd `cmd:"" help:"Put a new key in front of a secret; the old ones still open."`
}

type secretNewCmd struct {
	File string `arg:"" help:"Where to write it. It must not be there yet."`
}

// Help is printed under the flags of deed secret new --help.
func (secretNewCmd) Help() string {
	return `Example:

    deed secret new deed.secret
    deed serve --secret-file deed.secret    with $DEED_DATABASE set

A server with an embedded database makes its own. Keep a copy, and not beside the
database's backups: what is sealed opens with both, and with neither alone.`
}

func (c *secretNewCmd) Run(_ context.Context, w *world) error {
	if _, err := os.Lstat(c.File); !errors.Is(err, fs.ErrNotExist) {
		return &misuse{terminal.WithHint(fmt.Errorf("%s is there already", c.File), "what is sealed with it opens with nothing else, so it is never written over")}
	}
	v, err := vault.LoadOrMake(c.File)
	if err != nil {
		return err
	}
	return w.print(fmt.Sprintf("made %s, with the fingerprint %s\nKeep a copy where the database's backups are not.\n", terminal.Clean(c.File), v.Fingerprint()[:8]))
}

type secretRotateCmd struct {
	File string `arg:"" help:"The secret."`
}

// Help is printed under the flags of deed secret rotate --help.
func (secretRotateCmd) Help() string {
	return `Example:

    deed secret rotate deed.secret

Give the new file to every server before the first of them is started with it.`
}

func (c *secretRotateCmd) Run(_ context.Context, w *world) error {
	v, err := vault.Rotate(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return &misuse{terminal.WithHint(err, "make one: deed secret new "+c.File)}
	}
	if err != nil {
		return err
	}
	return w.print(fmt.Sprintf("%s seals with a new key now, with the fingerprint %s\nGive it to every server before the first is started with it.\n", terminal.Clean(c.File), v.Fingerprint()[:8]))
}
