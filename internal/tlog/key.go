package tlog

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Key is an Ed25519 key that signs checkpoints, kept in a file. It is a
// [Signer].
type Key struct {
	note.Signer
	verifier note.Verifier
	text     string
}

// Verifier checks what the key signed.
func (k *Key) Verifier() note.Verifier { return k.verifier }

// VerifierKey is the public half as text, to be given to others:
// name+hash+key.
func (k *Key) VerifierKey() string { return k.text }

// CreateKey makes a key of that name and keeps it in a new file, readable by
// its owner alone. The file is there whole or not at all, and an existing one
// is never replaced: the error then is fs.ErrExist.
func CreateKey(path, name string) (*Key, error) {
	secret, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	if err := writeNewFile(path, []byte(secret+"\n")); err != nil {
		return nil, fmt.Errorf("create key file: %w", err)
	}
	return parseKey(secret)
}

// LoadKey reads a key file. Permissions that let others read it are taken
// away first. A missing file is fs.ErrNotExist.
func LoadKey(path string) (*Key, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if err := file.Chmod(0o600); err != nil {
			return nil, fmt.Errorf("key file %s can be read by others; run chmod 600 on it: %w", path, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	key, err := parseKey(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return nil, fmt.Errorf("key file %s is damaged; restore it from a backup: %w", path, err)
	}
	return key, nil
}

func parseKey(secret string) (*Key, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, err
	}
	// The form is PRIVATE+KEY+name+hash+base64(algorithm, seed).
	// A name has no plus, base64 may have one.
	parts := strings.SplitN(secret, "+", 5)
	data, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(data) != 1+ed25519.SeedSize {
		return nil, errors.New("malformed key")
	}
	public := ed25519.NewKeyFromSeed(data[1:]).Public().(ed25519.PublicKey)
	text, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return nil, err
	}
	return &Key{Signer: signer, verifier: verifier, text: text}, nil
}

// writeNewFile writes beside the place and links the result into it, because
// a reader must never see half a key and two makers must never both win.
func writeNewFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil {
		if errors.Is(err, os.ErrExist) {
			return err
		}
		return createWhole(path, data) // a file system without links
	}
	return syncDir(filepath.Dir(path))
}

func createWhole(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// syncDir makes a new name in a directory durable. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

// ReadVerifierKey returns the public half of a key file and changes nothing,
// not even permissions that are too wide.
func ReadVerifierKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read key file: %w", err)
	}
	key, err := parseKey(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return "", fmt.Errorf("read key file %s: %w", path, err)
	}
	return key.text, nil
}
