package api

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/value"
)

// decode reads a body strictly: one object, no member twice, none that nobody
// knows, none missing, no null where something is meant. Errors are a
// [RequestError] that names the member.
func decode(text []byte, into any) error {
	if err := checkShape(text, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	if err := json.Unmarshal(text, into, json.RejectUnknownMembers(true)); err != nil {
		return placed(err)
	}
	return nil
}

// placed says which member an error is about.
func placed(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		e := &RequestError{Field: dotted(semantic.JSONPointer)}
		switch {
		case errors.Is(semantic.Err, json.ErrUnknownName):
			e.Message = "there is no such member"
		case semantic.Err != nil:
			e.Message = semantic.Err.Error()
		default:
			e.Message = fmt.Sprintf("a JSON %s cannot stand here", semantic.JSONKind)
		}
		return e
	case errors.As(err, &syntactic):
		e := &RequestError{Field: dotted(syntactic.JSONPointer), Message: "this is not JSON: " + syntactic.Err.Error()}
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			e.Message = "the member is there twice"
		}
		return e
	}
	return &RequestError{Message: "this is not JSON: " + err.Error()}
}

// dotted writes a JSON pointer as names with dots between them.
func dotted(pointer jsontext.Pointer) string {
	return strings.Join(slices.Collect(pointer.Tokens()), ".")
}

// bodyError says why a body could not be read.
func bodyError(err error, limitBytes int64) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &sizeError{limitBytes: limitBytes}
	}
	return &RequestError{Message: "the body did not arrive whole"}
}

var (
	valueType = reflect.TypeFor[value.Value]()
	rawType   = reflect.TypeFor[jsontext.Value]()
	textType  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// checkShape walks through a text beside its type and finds what unmarshaling lets
// pass: a member that is missing, null, and something behind the end.
func checkShape(text []byte, t reflect.Type) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject && kind != jsontext.KindInvalid {
		return &RequestError{Message: "the body is no JSON object"}
	}
	if err := walk(d, t); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return &RequestError{Message: "something stands behind the JSON object"}
	}
	return nil
}

func walk(d *jsontext.Decoder, t reflect.Type) error {
	if t == valueType || t == rawType {
		return skip(d) // whoever knows what it may be reads it
	}
	if d.PeekKind() == jsontext.KindNull {
		if err := skip(d); err != nil {
			return err
		}
		return &RequestError{Field: dotted(d.StackPointer()), Message: "null stands for nothing here; leave out what is not there"}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(textType) {
		return skip(d)
	}
	switch kind := d.PeekKind(); {
	case t.Kind() == reflect.Struct && kind == jsontext.KindBeginObject:
		return walkStruct(d, t)
	case t.Kind() == reflect.Map && kind == jsontext.KindBeginObject:
		return walkInside(d, func() error {
			if err := skip(d); err != nil { // the name
				return err
			}
			return walk(d, t.Elem())
		})
	case t.Kind() == reflect.Slice && kind == jsontext.KindBeginArray:
		return walkInside(d, func() error { return walk(d, t.Elem()) })
	}
	return skip(d)
}

func skip(d *jsontext.Decoder) error {
	if err := d.SkipValue(); err != nil {
		return placed(err)
	}
	return nil
}

// walkInside walks over what stands between the brackets of a list or an object.
func walkInside(d *jsontext.Decoder, each func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return placed(err)
	}
	for d.PeekKind() != jsontext.KindEndArray && d.PeekKind() != jsontext.KindEndObject {
		if d.PeekKind() == jsontext.KindInvalid {
			_, err := d.ReadToken()
			return placed(err)
		}
		if err := each(); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return placed(err)
	}
	return nil
}

func walkStruct(d *jsontext.Decoder, t reflect.Type) error {
	members := map[string]reflect.StructField{}
	var required []string
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		members[name] = field
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	seen := map[string]bool{}
	err := walkInside(d, func() error {
		name, err := d.ReadToken()
		if err != nil {
			return placed(err)
		}
		key := name.String()
		field, known := members[key]
		if !known {
			return &RequestError{Field: dotted(d.StackPointer()), Message: "there is no such member"}
		}
		seen[key] = true
		return walk(d, field.Type)
	})
	if err != nil {
		return err
	}
	for _, name := range required {
		if !seen[name] {
			return &RequestError{Field: dotted(d.StackPointer().AppendToken(name)), Message: "is missing"}
		}
	}
	return nil
}
