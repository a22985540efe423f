package docket

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// InputError is something in a file of actions, facts or watermarks that cannot
// be read.
type InputError struct {
	File string
	Line int    // 0 where the file is one document
	Key  string // the member that is wrong; empty for the whole
	Err  error
}

func (e *InputError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Key != "" {
		place += ": " + e.Key
	}
	return place + ": " + e.Err.Error()
}

func (e *InputError) Unwrap() error { return e.Err }

// maxLine is the longest line of a file that is read.
const maxLine = 1 << 20

// lines calls read for each line that is not empty.
func lines(file string, r io.Reader, read func(text []byte) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	n := 0
	for scanner.Scan() {
		n++
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := read(text); err != nil {
			return placed(err, file, n)
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return &InputError{File: file, Line: n + 1, Err: fmt.Errorf("the line is longer than %d bytes", maxLine)}
	} else if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// placed says where an error is.
func placed(err error, file string, line int) error {
	var known *InputError
	if errors.As(err, &known) {
		known.File, known.Line = file, line
		return known
	}
	e := &InputError{File: file, Line: line, Err: err}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		e.Key, e.Err = member(semantic.JSONPointer), semantic.Err
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			e.Err = errors.New("there is no such key")
		} else if e.Err == nil {
			e.Err = fmt.Errorf("a JSON %s cannot stand here", semantic.JSONKind)
		}
	case errors.As(err, &syntactic):
		e.Key, e.Err = member(syntactic.JSONPointer), fmt.Errorf("this is not JSON: %w", syntactic.Err)
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			e.Err = errors.New("the key is there twice")
		}
	}
	return e
}

// member writes a JSON pointer as keys with dots between them.
func member(pointer jsontext.Pointer) string {
	return strings.Join(slices.Collect(pointer.Tokens()), ".")
}

// actionLine is an action as agents send it, and when it was received.
type actionLine struct {
	verdict.Declaration
	// Params shadows the declaration's: what a declaration holds is never a
	// reason to refuse it.
	Params map[string]jsontext.Value `json:"params"`
	Others map[string]jsontext.Value `json:",embed"`
}

// ReadActions reads declarations, one JSON object a line: the body that agents
// send to declare an action, and `received_at`. Unknown members, and parameters
// that no condition could read, are left out and told of as warnings. Errors
// are an [InputError].
func ReadActions(file string, r io.Reader) (declarations []verdict.Declaration, warnings []string, err error) {
	line := 0
	unknown := map[string]int{}
	err = lines(file, r, func(text []byte) error {
		line++
		var a actionLine
		if err := json.Unmarshal(text, &a); err != nil {
			return err
		}
		d := a.Declaration
		switch {
		case d.ActionID == "":
			return missing("action_id", "")
		case d.ReceivedAt == 0:
			return missing("received_at", "; it is when the declaration was received, by the clock of whoever received it")
		}
		for name := range a.Others {
			unknown[name]++
		}
		d.Params = make(map[string]value.Value, len(a.Params))
		for name, raw := range a.Params {
			var v value.Value
			if err := json.Unmarshal(raw, &v); err != nil {
				warnings = append(warnings, fmt.Sprintf("params.%s of action %s was left out: it is neither a text, a number, a boolean, an amount, a time nor a list of these", name, d.ActionID))
				continue
			}
			d.Params[name] = v
		}
		declarations = append(declarations, d)
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		warnings = append(warnings, fmt.Sprintf("unknown field %s in %d of %d actions was left out", name, unknown[name], line))
	}
	return declarations, warnings, err
}

func missing(key, why string) error {
	return &InputError{Key: key, Err: errors.New("is missing" + why)}
}

// ReadFacts reads facts, one JSON object a line, with the members that
// [evidence.Fact] has and no others. Errors are an [InputError].
func ReadFacts(file string, r io.Reader) (facts []evidence.Fact, err error) {
	err = lines(file, r, func(text []byte) error {
		var f evidence.Fact
		if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		switch {
		case f.Source == "":
			return missing("source", "")
		case f.ExternalID == "":
			return missing("external_id", "")
		case f.Type == "":
			return missing("type", "")
		case f.OccurredAt == 0:
			return missing("occurred_at", "")
		case f.Mode != "" && f.Mode != evidence.Event && f.Mode != evidence.State:
			return &InputError{Key: "mode", Err: fmt.Errorf("%q is neither event nor state", f.Mode)}
		}
		facts = append(facts, f)
		return nil
	})
	return facts, err
}

// ReadSources reads the sources and how complete they are: one JSON object with
// the member `sources`, a list of what [evidence.Source] has. Errors are an
// [InputError].
func ReadSources(file string, r io.Reader) ([]evidence.Source, error) {
	var document struct {
		Sources []evidence.Source `json:"sources"`
	}
	if err := json.UnmarshalRead(r, &document, json.RejectUnknownMembers(true)); err != nil {
		return nil, placed(err, file, 0)
	}
	names := map[string]bool{}
	for i, s := range document.Sources {
		key := fmt.Sprintf("sources.%d", i)
		switch {
		case s.Name == "":
			return nil, &InputError{File: file, Key: key + ".name", Err: errors.New("is missing")}
		case s.Trust == evidence.NoTrust:
			return nil, &InputError{File: file, Key: key + ".trust", Err: errors.New("is missing")}
		case names[s.Name]:
			return nil, &InputError{File: file, Key: key + ".name", Err: fmt.Errorf("the source %s is there twice", s.Name)}
		}
		names[s.Name] = true
	}
	return document.Sources, nil
}
