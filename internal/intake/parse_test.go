package intake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/value"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

// fact is a refund of 80 USD at noon, with members added or replaced.
func fact(members ...string) string {
	all := []string{
		`"source": "stripe"`, `"external_id": "re_1"`, `"type": "refund.succeeded"`, `"occurred_at": "2026-11-02T12:00:00Z"`,
		`"attrs": {"amount": {"amount": "80.00", "currency": "USD"}}`,
	}
	for _, m := range members {
		name, _, _ := strings.Cut(m, ":")
		kept := all[:0]
		for _, known := range all {
			if !strings.HasPrefix(known, name+":") {
				kept = append(kept, known)
			}
		}
		all = append(kept, m)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func list(facts ...string) []byte { return []byte(`{"facts": [` + strings.Join(facts, ", ") + `]}`) }

func parsed(t testing.TB, facts ...string) []intake.Fact {
	t.Helper()
	read, err := intake.Parse(list(facts...))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestAFactIsReadAsItWasSent(t *testing.T) {
	t.Parallel()
	body := fact(`"subject_id": "o-1"`, `"subject_kind": "order"`, `"refs": {"key": "a1", "empty": ""}`, `"observed_at": "2026-11-02T13:05:00+01:00"`,
		`"mode": "state"`, `"revision": 7`, `"retracted": true`, `"payload": "sha256:ab"`, `"attrs": {"amount": 180.00, "none": null}`)
	f := parsed(t, body)[0]
	if string(f.Body) != body {
		t.Errorf("the body became %s", f.Body)
	}
	got := fmt.Sprint(f.Source, f.ExternalID, f.Type, f.SubjectID, f.SubjectKind, f.Refs, f.OccurredAt, f.ObservedAt, f.IngestedAt, f.Mode, f.Revision, f.Retracted, f.Payload, len(f.Attrs))
	if want := fmt.Sprint("stripe", "re_1", "refund.succeeded", "o-1", "order", map[string]string{"key": "a1"}, noon, noon+300_000_000, value.Instant(0), "state", 7, true, "sha256:ab", 1); got != want {
		t.Errorf("read %s\nwant %s", got, want)
	}
	if text, err := f.Attrs["amount"].AppendJSON(nil); err != nil || string(text) != "180.00" {
		t.Errorf("the amount is %s, want 180.00", text)
	}
}

func TestAFactThatCannotBeReadIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600)
	for name, test := range map[string]struct{ fact, field, message string }{
		"no source":              {fact(`"source": ""`), "source", "is missing"},
		"no id":                  {fact(`"external_id": null`), "external_id", "is missing"},
		"no type":                {fact(`"type": ""`), "type", "is missing"},
		"no time":                {fact(`"occurred_at": null`), "occurred_at", "is missing"},
		"a type without a name":  {fact(`"type": "refund"`), "type", "has to be a family and a name"},
		"a type without family":  {fact(`"type": ".refund"`), "type", "has to be a family and a name"},
		"a time without a zone":  {fact(`"occurred_at": "2026-11-02T12:00:00"`), "occurred_at", `time "2026-11-02T12:00:00" names no zone`},
		"a number for a text":    {fact(`"subject_id": 7`), "subject_id", "a number cannot stand here"},
		"an unknown member":      {fact(`"colour": 1`), "colour", "there is no such member"},
		"when it arrived":        {fact(`"ingested_at": "2026-11-02T12:00:00Z"`), "ingested_at", "there is no such member"},
		"an unknown mode":        {fact(`"mode": "guess"`), "mode", "is event or state"},
		"a revision below 1":     {fact(`"revision": -1`), "revision", "has to be a whole number from 1"},
		"half a revision":        {fact(`"revision": 1.5`), "revision", "a number cannot stand here"},
		"an id too long":         {fact(`"external_id": "` + long + `"`), "external_id", "has 600 bytes, at most 512 are taken"},
		"a source too long":      {fact(`"source": "` + long[:257] + `"`), "source", "has 257 bytes, at most 256 are taken"},
		"no text":                {fact(`"subject_id": "\u0000"`), "subject_id", "has a character U+0000"},
		"no text in a ref":       {fact(`"refs": {"key": "\u0000"}`), "refs.key", "has a character U+0000"},
		"a ref too long":         {fact(`"refs": {"key": "` + long + `"}`), "refs.key", "has a name or a key that is too long"},
		"a ref that is no text":  {fact(`"refs": {"key": 7}`), "refs.key", "a number cannot stand here"},
		"an odd attribute":       {fact(`"attrs": {"a": {"b": 1}}`), "attrs.a.b", "an object here is"},
		"too many refs":          {fact(`"refs": {` + members(51) + `}`), "refs", "has 51 members, at most 50 are taken"},
		"too many attributes":    {fact(`"attrs": {` + members(201) + `}`), "attrs", "has 201 members, at most 200 are taken"},
		"too much of everything": {fact(`"attrs": {"a": "` + strings.Repeat("x", 64<<10) + `"}`), "", fmt.Sprintf("has %d bytes, at most 65536 are taken", len(fact(`"attrs": {"a": ""}`))+65536)},
		"no object":              {`7`, "", "a number cannot stand here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := intake.Parse(list(fact(), test.fact))
			invalid, is := errors.AsType[*intake.InvalidError](err)
			if !is || access.CodeOf(err) != access.InvalidRequest {
				t.Fatalf("the error is %v", err)
			}
			got := invalid.Problems[0]
			if got.Index != 1 || got.Field != test.field || !strings.HasPrefix(got.Message, test.message) {
				t.Errorf("it is %+v, want %q: %s", got, test.field, test.message)
			}
			if want := "1 of 2 facts cannot be kept, so none was"; err.Error() != want {
				t.Errorf("the error says %v, want %s", err, want)
			}
		})
	}
}

func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d": "x"`, i))
	}
	return strings.Join(all, ", ")
}

func TestAListOfFactsHasOneToAThousandAndNothingElse(t *testing.T) {
	t.Parallel()
	many := strings.Split(strings.Repeat("{} ", 1001), " ")[:1001]
	for body, message := range map[string]string{
		`{"facts": []}`:                 "facts: has 0 facts; 1 to 1000 are taken at once",
		`{}`:                            "facts: has 0 facts; 1 to 1000 are taken at once",
		string(list(many...)):           "facts: has 1001 facts; 1 to 1000 are taken at once",
		`{"facts": [], "more": 1}`:      "more: there is no such member",
		`{"facts": [], "facts": []}`:    "facts: the member is there twice",
		`{"facts": [{"a": 1, "a": 2}]}`: "facts.0.a: the member is there twice",
		`[]`:                            "a list cannot stand here",
	} {
		if _, err := intake.Parse([]byte(body)); err == nil || err.Error() != message {
			t.Errorf("of %.40s… the error is %v, want %s", body, err, message)
		}
	}
}

// Whatever comes is read or refused, and what is read has all that a fact needs.
func FuzzParse(f *testing.F) {
	f.Add(list(fact(), fact(`"refs": {"key": "a1"}`, `"mode": "state"`)))
	f.Add(list(`{"source": "s", "external_id": "e", "type": "a.b", "occurred_at": "2026-11-02T23:59:60Z", "attrs": {"l": [[1e500, null]]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		facts, err := intake.Parse(body)
		if (len(facts) == 0) == (err == nil) {
			t.Fatalf("neither or both: %d, %v", len(facts), err)
		}
		if err != nil && !errors.As(err, new(*intake.InvalidError)) {
			t.Fatalf("an error of another kind: %v", err)
		}
		for i := range facts {
			if f := &facts[i]; f.Source == "" || f.ExternalID == "" || f.Type == "" || f.OccurredAt == 0 || f.IngestedAt != 0 {
				t.Fatalf("read %+v", f.Fact)
			}
		}
	})
}
