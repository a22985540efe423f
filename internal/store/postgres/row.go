package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// row reads the columns of a row as they came over the wire: the statements use
// four types only, and to read them by hand takes a fraction of the time.
type row struct {
	fields []pgconn.FieldDescription
	values [][]byte
	next   int
	err    error
}

func (r *row) take() (value []byte, of uint32, binaryForm bool) {
	if r.next >= len(r.values) {
		r.err = errors.Join(r.err, errors.New("a row has fewer columns than are read"))
		return nil, 0, false
	}
	i := r.next
	r.next++
	if r.values[i] == nil {
		r.err = errors.Join(r.err, fmt.Errorf("column %s is NULL", r.fields[i].Name))
	}
	return r.values[i], r.fields[i].DataTypeOID, r.fields[i].Format == pgx.BinaryFormatCode
}

func (r *row) wrong(want string) {
	f := &r.fields[r.next-1]
	r.err = errors.Join(r.err, fmt.Errorf("column %s has the type %d and is read as %s", f.Name, f.DataTypeOID, want))
}

// Text implements [sqlstore.Row].
func (r *row) Text() string {
	v, of, _ := r.take()
	if of != pgtype.TextOID && r.err == nil {
		r.wrong("a text")
	}
	return unescape(string(v))
}

// Int implements [sqlstore.Row].
func (r *row) Int() int64 {
	v, of, binaryForm := r.take()
	switch {
	case r.err != nil:
	case !binaryForm:
		n, err := strconv.ParseInt(string(v), 10, 64)
		r.err = err
		return n
	case of == pgtype.Int8OID && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v))
	case of == pgtype.Int4OID && len(v) == 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	default:
		r.wrong("a number")
	}
	return 0
}

// Bool implements [sqlstore.Row].
func (r *row) Bool() bool {
	v, of, binaryForm := r.take()
	if r.err != nil {
		return false
	}
	if of != pgtype.BoolOID || len(v) != 1 {
		r.wrong("true or false")
		return false
	}
	return binaryForm && v[0] == 1 || !binaryForm && v[0] == 't'
}

// Bytes implements [sqlstore.Row].
func (r *row) Bytes() []byte {
	v, of, binaryForm := r.take()
	if r.err != nil {
		return nil
	}
	if of != pgtype.ByteaOID || !binaryForm {
		r.wrong("bytes")
		return nil
	}
	return append([]byte(nil), v...)
}

// PostgreSQL's texts hold no NUL, which JSON texts may. It stands there as two
// characters, and so does the one that marks it.
var (
	escaper   = strings.NewReplacer("\x00", "\x01\x02", "\x01", "\x01\x01")
	unescaper = strings.NewReplacer("\x01\x02", "\x00", "\x01\x01", "\x01")
)

func escape(s string) string {
	if strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, 1) < 0 {
		return s
	}
	return escaper.Replace(s)
}

func unescape(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	return unescaper.Replace(s)
}

func escapeAll(all []string) []string {
	escaped := make([]string, len(all))
	for i, s := range all {
		escaped[i] = escape(s)
	}
	return escaped
}
