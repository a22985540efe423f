package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What is in the folder of a backup.
const (
	DatabaseFile    = "deed.db"
	descriptionFile = "backup.json"
)

const format = 1

// Backup describes a backup.
type Backup struct {
	Format   int       `json:"format"`
	MadeAt   time.Time `json:"made_at"`
	Release  string    `json:"release"`
	Database string    `json:"database"` // the file beside the description
	SHA256   string    `json:"sha256"`   // of that file, in hexadecimal digits
	Bytes    int64     `json:"bytes"`
	// Secret is the fingerprint of the secret that opens what is sealed in the
	// database.
	Secret string `json:"secret"`
}

// ErrNoBackup says that a folder holds no backup, or one that was broken off.
var ErrNoBackup = errors.New("it holds no finished backup")

// DamageError says that a backup is not what it was.
type DamageError struct{ Problem string }

func (e *DamageError) Error() string { return "the backup is damaged: " + e.Problem }

// Describe finishes the backup in a folder, whose database is there.
func Describe(folder, release, secret string, at time.Time) (*Backup, error) {
	sum, size, err := sumOf(filepath.Join(folder, DatabaseFile))
	if err != nil {
		return nil, fmt.Errorf("describe the backup: %w", err)
	}
	b := &Backup{
		Format: format, MadeAt: at.UTC().Truncate(time.Second), Release: release,
		Database: DatabaseFile, SHA256: sum, Bytes: size, Secret: secret,
	}
	text, err := json.Marshal(b, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("describe the backup: %w", err)
	}
	if err := writeDurably(filepath.Join(folder, descriptionFile), append(text, '\n')); err != nil {
		return nil, fmt.Errorf("describe the backup: %w", err)
	}
	return b, nil
}

// Read reads the description of a backup and makes sure that it is what it was.
// Errors: [ErrNoBackup], [DamageError].
func Read(folder string) (*Backup, error) {
	text, err := os.ReadFile(filepath.Join(folder, descriptionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoBackup
	}
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	var b Backup
	if err := json.Unmarshal(text, &b, json.RejectUnknownMembers(true)); err != nil {
		return nil, &DamageError{Problem: "its description cannot be read"}
	}
	if b.Format != format {
		return nil, fmt.Errorf("read the backup: its format is %d, and this release knows %d", b.Format, format)
	}
	if b.Database != DatabaseFile {
		return nil, &DamageError{Problem: "its description names another file"}
	}
	sum, size, err := sumOf(filepath.Join(folder, DatabaseFile))
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	if sum != b.SHA256 || size != b.Bytes {
		return nil, &DamageError{Problem: "its database is not the one that it was made with"}
	}
	return &b, nil
}

func sumOf(path string) (sum string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

func writeDurably(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
