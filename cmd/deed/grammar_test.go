package main

import (
	"reflect"
	"testing"
)

// What recording leaves out must be only the other commands.
func TestWrappingAServerHasTheSameFlagsInBothGrammars(t *testing.T) {
	t.Parallel()
	whole, part := reflect.TypeFor[commands](), reflect.TypeFor[recording]()
	for i := range part.NumField() {
		field := part.Field(i)
		same, ok := whole.FieldByName(field.Name)
		if !ok || same.Type != field.Type || same.Tag != field.Tag {
			t.Errorf("%s is %v %q in one grammar and %v %q in the other", field.Name, field.Type, field.Tag, same.Type, same.Tag)
		}
	}
	for _, name := range []string{"Home", "Version", "Run"} {
		if _, ok := part.FieldByName(name); !ok {
			t.Errorf("%s is missing where a server is wrapped", name)
		}
	}
}
