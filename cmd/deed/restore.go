package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/archive"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/vault"
)

type restoreCmd struct {
	Folder   string       `arg:"" help:"The backup's folder."`
	Settings settingFlags `embed:""`
}

// Help is printed under the flags of deed restore --help.
func (restoreCmd) Help() string {
	return `Example:

    deed restore /backups/deed-2026-11-02 --data /var/lib/deed-new --secret-file /safe/deed.secret

Puts a backup into a folder that has no database yet. The secret must be the one
that the backup was made beside: in the folder as "secret", or by --secret-file.
All sessions and unused links end. Each ledger goes on under another name, because
the one that the backup was copied from has signed more since.

Keys that were revoked after the backup was made work again: revoke them anew.`
}

func (c *restoreCmd) Run(ctx context.Context, w *world) error {
	config, err := c.Settings.embedded(w)
	if err != nil {
		return err
	}
	b, err := archive.Read(c.Folder)
	if errors.Is(err, archive.ErrNoBackup) {
		return &misuse{terminal.WithHint(fmt.Errorf("restore %s: %w", c.Folder, err), "name the folder that deed backup made")}
	}
	if err != nil {
		return err
	}
	v, err := restoreVault(ctx, w, config, b)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		n := 0
		err := sqlite.Restore(ctx, filepath.Join(c.Folder, b.Database), config.Data, func(folder string) (err error) {
			n, err = prepareCopy(ctx, folder, v, behind(config, silent))
			return err
		})
		if errors.Is(err, fs.ErrExist) {
			return &misuse{terminal.WithHint(errors.New("there is a database in the folder already"), "nothing is written over; name another folder: --data DIR")}
		}
		if err != nil {
			return folderError(err)
		}
		return w.print(fmt.Sprintf("restored %s, as of %s\nSessions ended, and each ledger goes on under another name.\nKeys that were revoked since then work again: look through them before you let anybody in.\n",
			terminal.Plural(int64(n), "workspace"), b.MadeAt.Format("2006-01-02 15:04:05 UTC")))
	})
}

// restoreVault reads the secret and makes sure that it is the backup's, before
// anything is written.
func restoreVault(ctx context.Context, w *world, config *setting.Config, b *archive.Backup) (*vault.Vault, error) {
	v, err := loadVault(ctx, config, w.stderr)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &misuse{terminal.WithHint(fmt.Errorf("the secret with the fingerprint %s is needed", b.Secret[:8]),
			"copy it into the folder as secret, or name it: --secret-file FILE")}
	}
	if err != nil {
		return nil, err
	}
	if !v.Has(b.Secret) {
		return nil, &misuse{terminal.WithHint(fmt.Errorf("the secret has the fingerprint %s, and the backup was made beside %s", v.Fingerprint()[:8], b.Secret[:8]),
			"name the other one: --secret-file FILE")}
	}
	return v, nil
}

// prepareCopy does what must be done before a copy may be served beside what it was
// copied from.
func prepareCopy(ctx context.Context, folder string, v *vault.Vault, options ...sqlstore.Option) (workspaces int, err error) {
	s, err := sqlite.Open(ctx, folder, options...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := v.Admit(ctx, s.Directory()); err != nil {
		return 0, err
	}
	if err := s.Directory().Expire(ctx, math.MaxInt64); err != nil {
		return 0, fmt.Errorf("end the sessions: %w", err)
	}
	all, err := s.Directory().Workspaces(ctx)
	if err != nil {
		return 0, err
	}
	service := ledger.New(s, v)
	for _, one := range all {
		if err := service.NewEpoch(ctx, one.ID); err != nil {
			return 0, err
		}
		err := s.Do(ctx, one.ID, func(tx store.Tx) error {
			tx.Audit(audit.Entry(account.Console, tx.Now(), "workspace.restored", string(one.ID), nil))
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
