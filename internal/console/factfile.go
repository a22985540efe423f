package console

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxFactLine is the longest line of a file of facts.
const maxFactLine = 1 << 20

// FactFile reads facts from a file, one after another: JSON lines, or CSV with a
// [CSVMapping]. It tells line numbers as an editor does.
type FactFile struct {
	name string
	next func() (fact []byte, err error)
	line int
}

// LineError is a line of a file that is no fact.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// LineErrors are those of an error, by their lines.
func LineErrors(err error) []*LineError {
	var all []*LineError
	switch e := err.(type) {
	case *LineError:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, LineErrors(one)...)
		}
	case interface{ Unwrap() error }:
		all = LineErrors(e.Unwrap())
	}
	slices.SortStableFunc(all, func(a, b *LineError) int { return a.Line - b.Line })
	return all
}

// JSONLines reads one JSON object a line. What is in it is for the server to
// judge; its numbers arrive there digit for digit.
func JSONLines(name string, r io.Reader) *FactFile {
	f := &FactFile{name: name}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxFactLine)
	f.next = func() ([]byte, error) {
		for lines.Scan() {
			f.line++
			text := bytes.TrimSpace(lines.Bytes())
			if f.line == 1 {
				text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
			}
			if len(text) == 0 {
				continue
			}
			if err := object(text); err != nil {
				return nil, &LineError{name, f.line, err}
			}
			return bytes.Clone(text), nil
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return nil, &LineError{name, f.line + 1, fmt.Errorf("the line is longer than %d bytes", maxFactLine)}
		}
		if lines.Err() != nil {
			return nil, fmt.Errorf("read %s: %w", name, lines.Err())
		}
		return nil, io.EOF
	}
	return f
}

func object(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return errors.New("a line must be a JSON object, which begins with {")
	}
	if _, err := d.ReadValue(); err != nil {
		return fmt.Errorf("this is not JSON: %w", err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

// CSV reads rows below a heading, and makes facts of them by a mapping.
func CSV(name string, r io.Reader, m *CSVMapping) (*FactFile, error) {
	rows := csv.NewReader(r)
	if m.Comma != "" {
		rows.Comma = rune(m.Comma[0])
	}
	heading, err := rows.Read()
	if err == io.EOF {
		return nil, &LineError{name, 1, errors.New("there is no heading that names the columns")}
	}
	if err != nil {
		return nil, fmt.Errorf("read the heading of %s: %w", name, err)
	}
	heading[0] = string(bytes.TrimPrefix([]byte(heading[0]), []byte("\xef\xbb\xbf")))
	index := make(map[string]int, len(heading))
	for i, column := range heading {
		if _, twice := index[column]; twice {
			return nil, &LineError{name, 1, fmt.Errorf("the column %q is there twice", column)}
		}
		index[column] = i
	}
	if err := m.check(index); err != nil {
		return nil, &LineError{name, 1, err}
	}
	f := &FactFile{name: name, line: 1}
	f.next = func() ([]byte, error) {
		row, err := rows.Read()
		if err == io.EOF {
			return nil, io.EOF
		}
		if parse := new(csv.ParseError); errors.As(err, &parse) {
			return nil, &LineError{name, parse.Line, parse.Err}
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		f.line, _ = rows.FieldPos(0)
		fact, err := m.fact(func(column string) string { return row[index[column]] })
		if err != nil {
			return nil, &LineError{name, f.line, err}
		}
		return fact, nil
	}
	return f, nil
}

// Next returns the next fact as JSON, and io.EOF after the last. Error:
// [LineError].
func (f *FactFile) Next() (fact []byte, line int, err error) {
	fact, err = f.next()
	return fact, f.line, err
}

// ReadCSVMapping reads a mapping from a JSON or YAML file.
func ReadCSVMapping(path string) (*CSVMapping, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the mapping: %w", err)
	}
	return ParseCSVMapping(path, text)
}

// marshal writes JSON without escaping what HTML would need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write a fact: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
