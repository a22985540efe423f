package sqlstore

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/deed-dev/deed/internal/store"
)

// place is where a list goes on: after the row of this number and text.
type place struct {
	number int64
	text   string
}

// boundTo is how many bytes of a cursor say which list it belongs to.
const boundTo = 8

// cursor writes where a list goes on. It is bound to the list and its filter,
// which is written as Go prints values: it is compared, never read.
func cursor(list string, filter any, p place) store.Cursor {
	b := mark(list, filter)
	b = binary.BigEndian.AppendUint64(b, uint64(p.number))
	b = append(b, p.text...)
	return store.Cursor(base64.RawURLEncoding.EncodeToString(b))
}

// readCursor reads what cursor wrote for the same list and filter; false for the
// start. Errors: [store.CursorError].
func readCursor(list string, filter any, c store.Cursor) (place, bool, error) {
	if c == "" {
		return place{}, false, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(b) < boundTo+8 || string(b[:boundTo]) != string(mark(list, filter)) {
		return place{}, false, &store.CursorError{List: list}
	}
	return place{number: int64(binary.BigEndian.Uint64(b[boundTo:])), text: string(b[boundTo+8:])}, true, nil
}

func mark(list string, filter any) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %#v", list, filter))
	return append([]byte(nil), sum[:boundTo]...)
}
