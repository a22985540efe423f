package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// maxValueBytes is the longest text of a row that is kept as it is.
const maxValueBytes = 1 << 10

// Metadata is what a row says beside who, what and when. Values are what JSON has;
// nil is left out.
type Metadata map[string]any

// Entry makes a row of a trail. An object is what it was done to, by its public
// name: an id, a prefix, a contract and its version; never a secret.
func Entry(actor access.Actor, at value.Instant, event, object string, m Metadata) store.AuditEntry {
	return store.AuditEntry{At: at, Actor: actor, Event: event, Object: object, Metadata: Clean(m)}
}

// Clean writes metadata as it may be kept: members in the order of their names,
// secrets replaced, a text above 1 KiB as {"bytes": …, "sha256": …}. What cannot be
// written as JSON is told as such, since an act is not refused for its description.
func Clean(m Metadata) []byte {
	present := Metadata{}
	for name, v := range m {
		if v != nil {
			present[name] = v
		}
	}
	raw, err := json.Marshal(present, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte(`{"unreadable":true}`)
	}
	short, err := shorten(raw)
	if err != nil {
		return []byte(`{"unreadable":true}`)
	}
	clean, _ := redact.Value(short)
	return clean
}

// shorten copies JSON token by token, so that numbers stay as they were written.
func shorten(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(raw)), jsontext.NewEncoder(&out)
	for {
		token, err := from.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read metadata: %w", err)
		}
		// A string at an even place of an object is a name, and stays.
		kind, length := from.StackIndex(from.StackDepth())
		isName := kind == '{' && length%2 == 1
		if token.Kind() == '"' && !isName && len(token.String()) > maxValueBytes {
			sum := sha256.Sum256([]byte(token.String()))
			text := fmt.Sprintf(`{"bytes":%d,"sha256":%q}`, len(token.String()), hex.EncodeToString(sum[:]))
			if err := to.WriteValue(jsontext.Value(text)); err != nil {
				return nil, fmt.Errorf("write metadata: %w", err)
			}
			continue
		}
		if err := to.WriteToken(token); err != nil {
			return nil, fmt.Errorf("write metadata: %w", err)
		}
	}
}
