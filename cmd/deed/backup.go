package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/deed-dev/deed/internal/archive"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/terminal"
)

type backupCmd struct {
	Folder   string       `arg:"" help:"Where to write. It must not be there yet."`
	Settings settingFlags `embed:""`
}

// Help is printed under the flags of deed backup --help.
func (backupCmd) Help() string {
	return `Example:

    deed backup /backups/deed-2026-11-02
    deed backup --data /var/lib/deed /backups/deed-2026-11-02

Copies the embedded database as it stands at one moment, also while the server
runs. The secret is not in the backup, which holds its fingerprint instead: keep
the file "secret" of the data folder somewhere else, once. For PostgreSQL use its
own tools.`
}

func (c *backupCmd) Run(ctx context.Context, w *world) error {
	config, err := c.Settings.embedded(w)
	if err != nil {
		return err
	}
	v, err := openVault(ctx, config, w.stderr)
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.Folder, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fileThereError(c.Folder)
		}
		return &misuse{fmt.Errorf("make the backup's folder: %w", err)}
	}
	return interruptible(ctx, func(ctx context.Context) error {
		b, err := makeBackup(ctx, c.Folder, config, v.Fingerprint(), w)
		if err != nil {
			// Nothing of it is worth keeping: without its description it is none.
			_ = os.Remove(filepath.Join(c.Folder, archive.DatabaseFile))
			_ = os.Remove(c.Folder)
			return noDataHint(folderError(err))
		}
		return w.print(fmt.Sprintf("backed up %s to %s\nThe secret is not in it: keep %s apart; its fingerprint is %s.\n",
			terminal.Size(b.Bytes), terminal.Clean(c.Folder), terminal.Clean(filepath.Base(secretPath(config))), b.Secret[:8]))
	})
}

func makeBackup(ctx context.Context, folder string, config *setting.Config, fingerprint string, w *world) (*archive.Backup, error) {
	if err := sqlite.Backup(ctx, config.Data, filepath.Join(folder, archive.DatabaseFile)); err != nil {
		return nil, err
	}
	return archive.Describe(folder, buildVersion().Version, fingerprint, w.clock.Now())
}

func fileThereError(name string) error {
	return &misuse{terminal.WithHint(fmt.Errorf("%s is there already", name), "give another name; nothing is written over")}
}

// noDataHint says what to do where there is no database.
func noDataHint(err error) error {
	if errors.Is(err, sqlite.ErrNoData) {
		return &misuse{terminal.WithHint(err, "name the folder of the server's data: --data DIR")}
	}
	return err
}
