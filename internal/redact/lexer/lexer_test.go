package lexer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/redact/lexer"
)

// spell writes the tokens of a text, one word each.
func spell(text string) string {
	var l lexer.Lexer
	l.Reset([]byte(text))
	var words []string
	for {
		t := l.Next()
		switch t.Kind {
		case lexer.End:
			return strings.Join(words, " ")
		case lexer.Broken:
			return strings.Join(append(words, fmt.Sprintf("broken@%d", t.Start)), " ")
		case lexer.Key:
			words = append(words, "key:"+text[t.Start:t.End])
		default:
			words = append(words, text[t.Start:t.End])
		}
	}
}

func TestTokensStandWhereTheTextHasThem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"an object", `{"a": 1, "b" :[true,null]}`, `{ key:"a" 1 key:"b" [ true null ] }`},
		{"empty brackets", `[{},[]]`, `[ { } [ ] ]`},
		{"duplicate keys stay", `{"a":1,"a":2}`, `{ key:"a" 1 key:"a" 2 }`},
		{"a number keeps its spelling", `[180.0,1E400,-0]`, `[ 180.0 1E400 -0 ]`},
		{"an escaped quote does not end a string", `["a\"b\\"]`, `[ "a\"b\\" ]`},
		{"a text cut in a string", `{"a":"bc`, `{ key:"a" "bc`},
		{"a text cut after a backslash", `["a\`, `[ "a\`},
		{"a missing colon", `{"a" 1}`, `{ key:"a" broken@5`},
		{"a trailing comma", `[1,]`, `[ 1 broken@3`},
		{"the wrong bracket", `[1}`, `[ 1 broken@2`},
		{"a bare word", `{"a":hello}`, `{ key:"a" broken@5`},
		{"something after the end", `{} x`, `{ } broken@3`},
		{"a second value", `1 2`, `1 broken@2`},
		{"nothing", ` `, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := spell(tt.text); got != tt.want {
				t.Errorf("spell(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestAMillionLevelsTakeOneBitEach(t *testing.T) {
	t.Parallel()
	const levels = 1_000_000
	var l lexer.Lexer
	l.Reset(append(bytes.Repeat([]byte("["), levels), bytes.Repeat([]byte("]"), levels)...))
	deepest := 0
	for {
		token := l.Next()
		if token.Kind == lexer.Broken {
			t.Fatalf("broken at %d", token.Start)
		}
		if token.Kind == lexer.End {
			break
		}
		deepest = max(deepest, l.Depth())
	}
	if deepest != levels || l.Depth() != 0 {
		t.Errorf("deepest %d, left open %d; want %d and 0", deepest, l.Depth(), levels)
	}
}

// FuzzLexer holds the lexer to encoding/json: what is valid there is read to
// its end here, with brackets in balance.
func FuzzLexer(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\"",null]}`, `"\u00`, `[[[[`, `{"a":}`, "\xff", `[1e5,-2.5]`, `{"a":"b"}x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l lexer.Lexer
		l.Reset(data)
		last := -1
		for {
			token := l.Next()
			if token.Kind == lexer.End {
				break
			}
			if token.Kind == lexer.Broken {
				if json.Valid(data) {
					t.Fatalf("valid JSON %q is broken at %d", data, token.Start)
				}
				return
			}
			if token.Start <= last || token.End <= token.Start || token.End > len(data) {
				t.Fatalf("token %+v after offset %d of %d", token, last, len(data))
			}
			last = token.Start
		}
		if json.Valid(data) && l.Depth() != 0 {
			t.Fatalf("valid JSON %q leaves %d open", data, l.Depth())
		}
	})
}
