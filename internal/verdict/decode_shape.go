package verdict

import (
	"bytes"
	"encoding"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// checkShape walks through a case's text beside its type and finds what
// unmarshaling lets pass: a member that is missing, and null.
func checkShape(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	return walk(d, reflect.TypeFor[caseForm]())
}

var (
	valueType  = reflect.TypeFor[value.Value]()
	amountType = reflect.TypeFor[money.Amount]()
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func walk(d *jsontext.Decoder, t reflect.Type) error {
	if t == valueType {
		return d.SkipValue() // null is a value
	}
	if d.PeekKind() == jsontext.KindNull {
		if err := d.SkipValue(); err != nil {
			return formError(err)
		}
		return &FormError{string(d.StackPointer()), errors.New("null does not belong here; leave out what is not there")}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == amountType || reflect.PointerTo(t).Implements(textType) {
		return d.SkipValue()
	}
	switch t.Kind() {
	case reflect.Struct:
		return walkStruct(d, t)
	case reflect.Map:
		return walkInside(d, func() error {
			if err := d.SkipValue(); err != nil { // the name
				return err
			}
			return walk(d, t.Elem())
		})
	case reflect.Slice:
		return walkInside(d, func() error { return walk(d, t.Elem()) })
	}
	return d.SkipValue()
}

// walkInside walks over what stands between the brackets of a list or an
// object.
func walkInside(d *jsontext.Decoder, each func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return formError(err)
	}
	for d.PeekKind() != jsontext.KindEndArray && d.PeekKind() != jsontext.KindEndObject {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func walkStruct(d *jsontext.Decoder, t reflect.Type) error {
	fields := map[string]formField{}
	addFields(fields, t)
	seen := map[string]bool{}
	err := walkInside(d, func() error {
		name, err := d.ReadToken()
		if err != nil {
			return formError(err)
		}
		key := name.String()
		seen[key] = true
		return walk(d, fields[key].kind)
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !fields[name].optional && !seen[name] {
			return &FormError{string(d.StackPointer().AppendToken(name)), errors.New("the member is missing")}
		}
	}
	return nil
}

// formField is a member of an object: its type, and whether it may be left out.
type formField struct {
	kind     reflect.Type
	optional bool
}

// addFields lists the members of a struct by the tags that the decoder goes by
// too. A field hides one of the same name in what the struct embeds.
func addFields(fields map[string]formField, t reflect.Type) {
	for field := range t.Fields() {
		if field.Anonymous {
			addFields(fields, field.Type)
		}
	}
	for field := range t.Fields() {
		tag, tagged := field.Tag.Lookup("json")
		if field.Anonymous || !tagged {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		fields[name] = formField{kind: field.Type, optional: options == "omitzero"}
	}
}
