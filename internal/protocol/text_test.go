package protocol

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextIsWhatAStringSays(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"refund"`:             "refund",
		`""`:                   "",
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"\u0041\u00e9\u20AC"`: "Aé€",
		`"\uD83D\ude00"`:       "😀",
		`"\ud800"`:             `\ud800`,
		`"\udfff\ud800x"`:      `\udfff\ud800x`,
		`"\ud83dx\ude00"`:      `\ud83dx\ude00`,
		`"\ud83d\u0041"`:       `\ud83dA`,
		`"\ud83d\ud83d\ude00"`: `\ud83d😀`,
		`"\q\u12"`:             `\q\u12`,
		`"\u0000"`:             "\x00",
		`12345678901234567890`: `12345678901234567890`,
		`180.0`:                `180.0`,
		`null`:                 `null`,
		`{"a": "\n"}`:          `{"a": "\n"}`,
		"":                     "",
	} {
		if got, cut := Text(Token{Raw: []byte(raw), Size: int64(len(raw))}); got != want || cut {
			t.Errorf("%s says %q (cut: %v), want %q", raw, got, cut, want)
		}
		if got, cut := RawText(Token{Raw: []byte(raw), Size: int64(len(raw))}); got != raw || cut {
			t.Errorf("%s as it was written is %q (cut: %v)", raw, got, cut)
		}
	}
}

func TestTextThatIsNotWholeSaysSo(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"\"a\xffb\"":    `a\xffb`,
		"\"\xe2\x82\"":  `\xe2\x82`,
		"\"\x80\x00é\"": "\\x80\x00é",
		"\xc3":          `\xc3`,
	} {
		if got, cut := Text(Token{Raw: []byte(raw), Size: int64(len(raw))}); got != want || !cut {
			t.Errorf("%q says %q (cut: %v), want %q", raw, got, cut, want)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"plain":                      {strings.Repeat("x", 2000), strings.Repeat("x", TokenLimit-1)},
		"cut within a character":     {strings.Repeat("€", 1000), strings.Repeat("€", (TokenLimit-1)/3)},
		"cut within an escape":       {strings.Repeat(`\u20AC`, 1000), strings.Repeat("€", (TokenLimit-1)/6) + `\u2`},
		"invalid and cut within one": {"\xff" + strings.Repeat("é", 1000), `\xff` + strings.Repeat("é", (TokenLimit-2)/2)},
	} {
		m := read(`{"id":1,"method":"`+c.text+`"}`+"\n", 100)[0]
		if got, cut := Text(m.Method); got != c.want || !cut {
			t.Errorf("%s: %d bytes end in %q (cut: %v), want %d", name, len(got), got[len(got)-8:], cut, len(c.want))
		}
	}
}

func TestAnyTextSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringN(0, -1, TokenLimit/6-1).Draw(t, "text")
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.ToValidUTF8(want, "\uFFFD")
		if got, cut := Text(Token{Raw: raw, Size: int64(len(raw))}); got != want || cut || !utf8.ValidString(got) {
			t.Fatalf("%s says %q (cut: %v), want %q", raw, got, cut, want)
		}
	})
}
