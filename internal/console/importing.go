package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/deed-dev/deed/internal/remote"
)

// Import sends the facts of a file to a server, part by part. Each part is kept
// whole or not at all, and a fact that the server knows is not kept again, so that
// an import may be stopped and begun anew at any time. What was sent is noted
// beside the file, so that going on does not mean sending everything again.
type Import struct {
	Conn *remote.Conn
	// Workspace is where the facts go; a note of another one does not count.
	Workspace string
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
	New     int64 `json:"new"`     // facts that the server did not have
	Known   int64 `json:"known"`   // facts that it had
}

// progress is what is noted: that so many facts with this digest were kept.
type progress struct {
	Server    string `json:"server"`
	Workspace string `json:"workspace"`
	Facts     int64  `json:"facts"`
	Digest    string `json:"digest"` // of these facts, one after another
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
		p, err := file.part(im.size())
		more = err == nil
		if err == io.EOF {
			err = nil
		}
		// What stands before a bad line is good, and is sent.
		if sent := im.deliver(ctx, p, digest, &result); sent != nil {
			return result, errors.Join(sent, err)
		}
		if err != nil {
			return result, err
		}
	}
	return result, im.forget()
}

// part is some facts of a file, with their lines.
type part struct {
	file  string
	facts []json.RawMessage
	lines []int
}

// part reads up to n facts. The error, io.EOF at the end, is what ended it early.
func (f *FactFile) part(n int) (part, error) {
	p := part{file: f.name}
	for len(p.facts) < n {
		fact, line, err := f.Next()
		if err != nil {
			return p, err
		}
		p.facts, p.lines = append(p.facts, fact), append(p.lines, line)
	}
	return p, nil
}

// first is the part's first n facts.
func (p part) first(n int) part {
	return part{file: p.file, facts: p.facts[:n], lines: p.lines[:n]}
}

// deliver sends a part, and what stands before the first fact that the server
// refuses if it refuses one; then it notes how far the file is sent.
func (im *Import) deliver(ctx context.Context, p part, digest hash.Hash, result *Imported) error {
	if len(p.facts) == 0 {
		return nil
	}
	sum, err := im.send(ctx, p)
	if refused := LineErrors(err); len(refused) > 0 {
		good := slices.Index(p.lines, refused[0].Line)
		if sent := im.deliver(ctx, p.first(max(good, 0)), digest, result); sent != nil {
			return errors.Join(sent, err)
		}
		return err
	}
	if err != nil {
		return err
	}
	for _, fact := range p.facts {
		digest.Write(append(fact, '\n'))
	}
	result.New += sum.New
	result.Known += sum.Known
	done := result.Skipped + result.New + result.Known
	if im.Tell != nil {
		im.Tell(done)
	}
	return im.note(progress{Server: im.Conn.Address(), Workspace: im.Workspace, Facts: done, Digest: hex.EncodeToString(digest.Sum(nil))})
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

func (im *Import) send(ctx context.Context, p part) (Imported, error) {
	var sum Imported
	body, err := marshal(map[string]any{"facts": p.facts})
	if err != nil {
		return sum, err
	}
	_, err = im.Conn.Call(ctx, http.MethodPost, "/v1/facts", nil, body, &sum)
	fault, ok := errors.AsType[*remote.Error](err)
	if !ok || len(fault.Problems) == 0 {
		return sum, err
	}
	var all []error
	for _, problem := range fault.Problems {
		if problem.Index < 0 || problem.Index >= len(p.lines) {
			return Imported{}, err
		}
		all = append(all, &LineError{p.file, p.lines[problem.Index], fmt.Errorf("%s: %s", problem.Field, problem.Message)})
	}
	return Imported{}, errors.Join(all...)
}

// noted is what an earlier run noted for this server; nothing if it cannot be
// read, since sending a fact again does no harm.
func (im *Import) noted() progress {
	var p progress
	text, err := os.ReadFile(im.Note)
	if im.Note == "" || err != nil || json.Unmarshal(text, &p) != nil || p.Server != im.Conn.Address() || p.Workspace != im.Workspace {
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
