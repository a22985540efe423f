package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/vault"
)

// secretName is the file of the secret in the folder of an embedded database.
const secretName = "secret"

// secretPath is where the secret is.
func secretPath(c *setting.Config) string {
	if c.SecretFile != "" {
		return c.SecretFile
	}
	return filepath.Join(c.Data, secretName)
}

// openStore opens the store to serve it, with its tables brought up to date.
func openStore(ctx context.Context, c *setting.Config, options ...sqlstore.Option) (store.Store, error) {
	if c.Database != "" {
		s, err := postgres.Open(ctx, c.Database, options...)
		if err != nil {
			return nil, databaseError(err)
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, c.Data, options...)
	if err != nil {
		return nil, folderError(err)
	}
	return s, nil
}

// behind decides what becomes of a clock that is behind what was written. The clock of
// PostgreSQL is for whoever runs that, and other servers go by it already: there is a
// warning.
func behind(c *setting.Config, warn func(*sqlstore.ClockError)) sqlstore.Option {
	return sqlstore.WhenClockBehind(func(problem *sqlstore.ClockError) error {
		if c.Database == "" && !c.AcceptClock {
			return problem
		}
		warn(problem)
		return nil
	})
}

// silent takes a warning that a server gives.
func silent(*sqlstore.ClockError) {}

// lookStore opens the store for reading, beside the servers that it has.
func lookStore(ctx context.Context, c *setting.Config) (store.Store, error) {
	if c.Database != "" {
		s, err := postgres.Look(ctx, c.Database, behind(c, silent))
		if err != nil {
			return nil, databaseError(err)
		}
		return s, nil
	}
	s, err := sqlite.Look(ctx, c.Data)
	if err != nil {
		return nil, noDataHint(folderError(err))
	}
	return s, nil
}

// servingVault reads the secret of a server, and makes it where one with an embedded
// database starts for the first time. Where a secret was lost none is made: it would
// open nothing, and somebody would keep it as the right one.
func servingVault(ctx context.Context, c *setting.Config, r vault.Registry, stderr io.Writer) (*vault.Vault, error) {
	path := secretPath(c)
	if c.SecretFile != "" || c.SecretCommand != "" {
		return openVault(ctx, c, stderr)
	}
	v, err := vault.Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	begun, err := vault.Begun(ctx, r)
	if err != nil {
		return nil, err
	}
	if begun != "" {
		return nil, lostSecretError(path, begun)
	}
	return vault.LoadOrMake(path)
}

// loadVault reads the secret from where it is. What a command says while it fails goes
// to stderr.
func loadVault(ctx context.Context, c *setting.Config, stderr io.Writer) (*vault.Vault, error) {
	if c.SecretCommand == "" {
		return vault.Load(secretPath(c))
	}
	v, err := vault.Run(ctx, c.SecretCommand, stderr)
	if err != nil {
		return nil, terminal.WithHint(err, "what it has to print is the content of a secret file: deed secret new FILE makes one")
	}
	return v, nil
}

// openVault reads the secret, and says what to do where there is none.
func openVault(ctx context.Context, c *setting.Config, stderr io.Writer) (*vault.Vault, error) {
	path := secretPath(c)
	v, err := loadVault(ctx, c, stderr)
	if address, ok := errors.AsType[*vault.NotFileError](err); ok {
		return nil, &misuse{terminal.WithHint(address, "a secret that is elsewhere comes by a command that prints it: --secret-command COMMAND")}
	}
	if errors.Is(err, fs.ErrNotExist) {
		next := "make one: deed secret new " + path
		if c.SecretFile == "" {
			next = "is this the folder of the server's data? another one: --data DIR\nis the secret kept elsewhere? name it: --secret-file FILE"
		}
		return nil, &misuse{terminal.WithHint(err, next)}
	}
	return v, err
}

// keeping is what the commands beside the server work on.
type keeping struct {
	config *setting.Config
	store  store.Store
	vault  *vault.Vault
}

// look has a question answered about what is kept, beside the servers.
func (f settingFlags) look(ctx context.Context, w *world, question func(context.Context, *keeping) error) error {
	return f.with(ctx, w, lookStore, question)
}

// change changes what is kept. An embedded database must not be served meanwhile.
func (f settingFlags) change(ctx context.Context, w *world, do func(context.Context, *keeping) error) error {
	return f.with(ctx, w, func(ctx context.Context, c *setting.Config) (store.Store, error) {
		// What is not there is not made, nor brought up to date: that is for a server.
		looked, err := lookStore(ctx, c)
		if err != nil || c.Database != "" {
			return looked, err
		}
		if err := looked.Close(); err != nil {
			return nil, err
		}
		return openStore(ctx, c, behind(c, silent))
	}, do)
}

func (f settingFlags) with(ctx context.Context, w *world, open func(context.Context, *setting.Config) (store.Store, error), do func(context.Context, *keeping) error) error {
	effective, err := f.read(w)
	if err != nil {
		return err
	}
	k := &keeping{config: &effective.Config}
	return interruptible(ctx, func(ctx context.Context) (err error) {
		if k.store, err = open(ctx, k.config); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, k.store.Close()) }()
		if k.vault, err = openVault(ctx, k.config, w.stderr); err != nil {
			return err
		}
		if err := k.vault.Admit(ctx, reading{k.store.Directory()}); err != nil {
			return err
		}
		return do(ctx, k)
	})
}

// reading keeps a command that only looks from leaving its fingerprint.
type reading struct{ store.Directory }

// SetMeta implements vault.Registry: who looks has nothing to leave.
func (r reading) SetMeta(context.Context, string, string) (string, error) {
	return "", errors.New("no server was ever started with this secret")
}

// embedded are the settings of a command that is for embedded databases only.
func (f settingFlags) embedded(w *world) (*setting.Config, error) {
	effective, err := f.read(w)
	if err != nil {
		return nil, err
	}
	if effective.Config.Database != "" {
		return nil, &misuse{terminal.WithHint(errors.New("this is for embedded databases"), "for PostgreSQL use its own tools: pg_dump and pg_restore\nand keep the secret apart")}
	}
	return &effective.Config, nil
}

// workspaceNamed finds a workspace by its id or its name.
func (k *keeping) workspaceNamed(ctx context.Context, name string) (*store.Workspace, error) {
	all, err := k.store.Directory().Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	var found []store.Workspace
	for _, w := range all {
		if string(w.ID) == name {
			return &w, nil
		}
		if w.Name == name {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return nil, &misuse{terminal.WithHint(fmt.Errorf("there is no workspace %q", name), "list them: deed host workspaces")}
	case 1:
		return &found[0], nil
	}
	return nil, &misuse{terminal.WithHint(fmt.Errorf("%d workspaces are called %q", len(found), name), "name it by its id: deed host workspaces")}
}
