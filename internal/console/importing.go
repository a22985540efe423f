package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/deed-dev/deed/internal/remote"
)

// Import sends the facts of a file to a server, part by part. Each part is kept
// whole or not at all, and a fact that the server knows is not kept again, so that
// an import may be stopped and begun anew at any time. What was sent is noted
// beside the file, so that going on does not mean sending everything again.
type Import struct {
	Conn *remote.Conn
	// Note is where what was sent is noted; empty: nowhere.
	Note string
	// Part is how many facts go in one request; 500 if zero.
	Part int
	// Tell is called after each part with how many facts were read so far.
	Tell func(facts int64)
}

// Imported is how an import went.
type Imported struct {
	Skipped int64 `json:"skipped"` // sent by an earlier run, which was stopped
	New     int64 `json:"new"`
	Known   int64 `json:"known"`
}

// progress is what is noted: that so many facts with this digest were kept.
type progress struct {
	Server string `json:"server"`
	Facts  int64  `json:"facts"`
	Digest string `json:"digest"` // of these facts, one after another
}

// Run reads a file to its end; open opens it at its beginning, and may be called
// twice. Errors: [LineError] for a line that is no fact or that the server refuses,
// and what the connection fails with; what was kept until then is in the result and
// in the note.
func (im *Import) Run(ctx context.Context, open func() (*FactFile, error)) (result Imported, err error) {
	file, err := open()
	if err != nil {
		return result, err
	}
	digest := sha256.New()
	if before := im.noted(); before.Facts > 0 {
		if skip(file, before.Facts, digest) && hex.EncodeToString(digest.Sum(nil)) == before.Digest {
			result.Skipped = before.Facts
		} else { // the file is another one now
			digest.Reset()
			if file, err = open(); err != nil {
				return result, err
			}
		}
	}
	for more := true; more; {
		var part []json.RawMessage
		var lines []int
		var wrong error
		for len(part) < im.size() {
			fact, line, err := file.Next()
			if err != nil {
				more = false
				if err != io.EOF {
					wrong = err // what stands before it is good, and is sent
				}
				break
			}
			digest.Write(append(fact, '\n'))
			part, lines = append(part, fact), append(lines, line)
		}
		if len(part) > 0 {
			sum, err := im.send(ctx, file.name, part, lines)
			if err != nil {
				return result, errors.Join(err, wrong)
			}
			result.New += sum.New
			result.Known += sum.Known
			done := result.Skipped + result.New + result.Known
			err = im.note(progress{Server: im.Conn.Address(), Facts: done, Digest: hex.EncodeToString(digest.Sum(nil))})
			if err != nil {
				return result, errors.Join(err, wrong)
			}
			if im.Tell != nil {
				im.Tell(done)
			}
		}
		if wrong != nil {
			return result, wrong
		}
	}
	return result, im.forget()
}

// skip reads facts that were sent already. It is false where the file has fewer.
func skip(file *FactFile, n int64, digest io.Writer) bool {
	for range n {
		fact, _, err := file.Next()
		if err != nil {
			return false
		}
		_, _ = digest.Write(append(fact, '\n')) // a hash fails never
	}
	return true
}

func (im *Import) size() int {
	if im.Part == 0 {
		return 500
	}
	return im.Part
}

func (im *Import) send(ctx context.Context, file string, part []json.RawMessage, lines []int) (Imported, error) {
	var sum Imported
	body, err := marshal(map[string]any{"facts": part})
	if err != nil {
		return sum, err
	}
	_, err = im.Conn.Call(ctx, http.MethodPost, "/v1/facts", nil, body, &sum)
	if fault, ok := errors.AsType[*remote.Error](err); ok && len(fault.Problems) > 0 {
		var all []error
		for _, p := range fault.Problems {
			if p.Index >= 0 && p.Index < len(lines) {
				all = append(all, &LineError{file, lines[p.Index], fmt.Errorf("%s: %s", p.Field, p.Message)})
			}
		}
		return Imported{}, errors.Join(all...)
	}
	return sum, err
}

// noted is what an earlier run noted for this server; nothing if it cannot be
// read, since sending a fact again does no harm.
func (im *Import) noted() progress {
	var p progress
	text, err := os.ReadFile(im.Note)
	if im.Note == "" || err != nil || json.Unmarshal(text, &p) != nil || p.Server != im.Conn.Address() {
		return progress{}
	}
	return p
}

func (im *Import) note(p progress) error {
	if im.Note == "" {
		return nil
	}
	text, err := marshal(p)
	if err == nil {
		err = os.WriteFile(im.Note, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note how far the import is: %w", err)
	}
	return nil
}

func (im *Import) forget() error {
	if im.Note == "" {
		return nil
	}
	if err := os.Remove(im.Note); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the note of the import: %w", err)
	}
	return nil
}
