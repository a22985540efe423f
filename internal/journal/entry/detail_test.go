package entry

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestATextIsKeptWholeUpToItsLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		raw  string
		cut  bool
		head string
	}{
		"empty":                        {"", false, ""},
		"short":                        {"tools/call", false, ""},
		"a lone surrogate escape":      {`"\ud800"`, false, ""},
		"just within the limit":        {strings.Repeat("x", TextLimit), false, ""},
		"one byte too long":            {strings.Repeat("x", TextLimit+1), true, strings.Repeat("x", TextHead)},
		"not UTF-8":                    {"a\xffb", true, `a\xffb`},
		"a rune that the head cuts":    {strings.Repeat("x", TextHead-1) + "é" + strings.Repeat("x", TextLimit), true, strings.Repeat("x", TextHead-1)},
		"the replacement rune is kept": {"a\ufffdb", false, ""},
	} {
		got := NewText([]byte(test.raw))
		if got.Cut != test.cut || got.Head != test.head {
			t.Errorf("%s: got %+v", name, got)
		}
		if got.Cut && (got.Bytes != int64(len(test.raw)) || got.SHA256 != Hash(sha256.Sum256([]byte(test.raw)))) {
			t.Errorf("%s: size and hash are %d and %s", name, got.Bytes, got.SHA256)
		}
		if !got.Cut && got.Whole != test.raw {
			t.Errorf("%s: kept as %q", name, got.Whole)
		}
	}
}

func TestADetailComesBackFromItsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) *Text {
			if !rapid.Bool().Draw(t, name+" is there") {
				return nil
			}
			return NewText(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name))
		}
		d := &Detail{
			ID: text("id"), Method: text("method"), Tool: text("tool"), Error: text("error"), Target: text("target"),
			Label: rapid.String().Draw(t, "label"), Note: rapid.String().Draw(t, "note"),
		}
		if rapid.Bool().Draw(t, "peer is there") {
			d.Peer = &Peer{Name: text("name"), Protocol: text("protocol")}
		}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			d.Shape = append(d.Shape, Field{Name: rapid.String().Draw(t, "field"), Type: "string", Bytes: rapid.Int64Min(0).Draw(t, "bytes")})
		}
		salt, data, hash, err := SealDetail(d)
		if err != nil {
			t.Fatal(err)
		}
		if SaltedHash(salt, data) != hash || !utf8.Valid(data) {
			t.Fatalf("%s does not have the hash that was given", data)
		}
		got, err := OpenDetail(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", data, diff)
		}
		names, err := ReadNames(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(onlyNames(d), onlyNames(names)); diff != "" {
			t.Fatalf("read quickly, %s differs:\n%s", data, diff)
		}
	})
}

func onlyNames(d *Detail) Detail { return Detail{Method: d.Method, Tool: d.Tool, Error: d.Error} }

func TestOneDetailTwiceHasTwoHashes(t *testing.T) {
	t.Parallel()
	_, _, first, err := SealDetail(&Detail{Label: "x"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, second, err := SealDetail(&Detail{Label: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Error("the hash of a detail can be looked up in a table")
	}
}

func TestATextThatBreaksTheRulesForWholeOnesIsWrittenCut(t *testing.T) {
	t.Parallel()
	for _, whole := range []string{"a\xff", strings.Repeat("y", TextLimit+1)} {
		b, err := json.Marshal(&Text{Whole: whole})
		if err != nil {
			t.Fatal(err)
		}
		var got Text
		if err := json.Unmarshal(b, &got); err != nil || !got.Cut || got.SHA256 != Hash(sha256.Sum256([]byte(whole))) {
			t.Errorf("%q is written as %s", whole, b)
		}
	}
}

func FuzzReadNames(f *testing.F) {
	f.Add([]byte(`{"id":"7","method":"tools/call","tool":{"bytes":3,"head":"a","sha256":"` + strings.Repeat("ab", 32) + `"},"shape":[{"name":"}\"","type":"string","bytes":3}]}`))
	f.Add([]byte(`{"method":"a\u0062","error":"-1","note":"x"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := OpenDetail(data)
		names, quickErr := ReadNames(data)
		if err != nil || quickErr != nil {
			if err == nil {
				t.Fatalf("%q is a detail, and cannot be read quickly: %v", data, quickErr)
			}
			return
		}
		if diff := cmp.Diff(onlyNames(whole), onlyNames(names)); diff != "" {
			t.Fatalf("read quickly, %q differs:\n%s", data, diff)
		}
	})
}
