package entry

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawEntry makes any entry that the format allows.
func drawEntry(t *rapid.T) (Entry, Hash) {
	number := rapid.Int64Range(0, MaxInteger)
	kinds := []Kind{
		KindSession, KindRequest, KindRound, KindResponse, KindNotification, KindTools, KindNoise, KindStderr, KindGap, KindErasure, KindEnd,
	}
	e := Entry{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Session: newSession(), Call: -1, Took: -1, ExitCode: -1}
	rule := kindRules[e.Kind]
	var detail Hash
	maybe := func(m member) bool {
		return rule.required&m != 0 || (rule.allowed&m != 0 && rapid.Bool().Draw(t, m.name()+" is there"))
	}
	e.Seq = rapid.Int64Range(0, MaxInteger).Draw(t, "seq")
	for m := member(1); m < memberEnd; m <<= 1 {
		if m == mSeq || m == mSession || m == mKind || !maybe(m) {
			continue
		}
		if n := integerOf(m, &e); n != nil && m != mCall && m != mTook {
			*n = number.Draw(t, m.name())
		}
		switch m {
		case mCall:
			if e.Seq > 1 {
				e.Call = rapid.Int64Range(1, e.Seq-1).Draw(t, "call")
			}
		case mTook:
			if e.Call > 0 {
				e.Took = number.Draw(t, "took")
			}
		case mFrom:
			e.From = rapid.SampledFrom(sides).Draw(t, "from")
		case mOutcome:
			e.Outcome = Outcome(rapid.SampledFrom(outcomes).Draw(t, "outcome"))
		case mCapture:
			e.Capture = rapid.SampledFrom(captures).Draw(t, "capture")
		case mReason:
			e.Reason = rapid.SampledFrom(rule.reasons).Draw(t, "reason")
		case mFlags:
			flags := rapid.SliceOfDistinct(rapid.SampledFrom(flagWords), rapid.ID).Draw(t, "flags")
			slices.Sort(flags)
			if len(flags) > 0 {
				e.Flags = flags
			}
		case mWire:
			e.Wire = Hash{1, 2, byte(number.Draw(t, "wire"))}
		case mDetail:
			detail = Hash{3, 4, byte(number.Draw(t, "detail"))}
		case mDefinitions:
			e.Definitions = Hash{5, byte(number.Draw(t, "definitions"))}
		case mBody:
			e.Body = Hash{6, byte(number.Draw(t, "body"))}
		case mErased:
			e.Erased = Hash{7, byte(number.Draw(t, "erased"))}
		case mScope:
			e.Scope = rapid.SampledFrom(scopes).Draw(t, "scope")
		case mWhat:
			e.What = rapid.SampledFrom(whats).Draw(t, "what")
		}
	}
	if e.Body == (Hash{}) {
		e.Kept, e.Omitted, e.Head = 0, 0, 0
	}
	if e.Head = min(e.Head, e.Kept); e.Omitted == 0 {
		e.Head = 0
	}
	if e.Kind == KindErasure {
		e.Session = OwnSession
		e.First = min(e.First, e.Last)
		e.Count = 1 + e.Count%min(e.Last-e.First+1, MaxInteger)
	}
	if e.Kind == KindNoise && e.Messages == 1 {
		e.Messages = 0 // one line is the rule, and is not said
	}
	if e.Began == e.At {
		e.Began = 0
	}
	return e, detail
}

func TestEveryEntryComesBackFromItsLeaf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, detail := drawEntry(t)
		b, err := EncodeLeaf(&e, detail)
		if err != nil {
			t.Fatalf("encode %+v: %v", e, err)
		}
		got, err := DecodeLeaf(b)
		if err != nil {
			t.Fatalf("decode %s: %v", b, err)
		}
		if diff := cmp.Diff(e, got.Entry); diff != "" || got.Detail != detail {
			t.Fatalf("%s (-want +got):\n%s", b, diff)
		}
	})
}

func TestALeafIsJSONWithSortedKeysAndNoWhiteSpace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, detail := drawEntry(t)
		b, err := EncodeLeaf(&e, detail)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(b, &members); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		again, err := json.Marshal(members) // sorts by key, adds nothing
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, again) {
			t.Fatalf("%s is not %s", b, again)
		}
	})
}

func TestWhatIsNotCanonicalIsNotRead(t *testing.T) {
	t.Parallel()
	session := strings.Repeat("0f", 16)
	good := `{"at":5,"bytes":3,"from":"client","kind":"noise","seq":1,"session":"` + session + `","v":1}`
	if _, err := DecodeLeaf([]byte(good)); err != nil {
		t.Fatalf("the canonical form is refused: %v", err)
	}
	replace := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for name, bad := range map[string]string{
		"nothing":                     "",
		"no object":                   "1",
		"white space":                 replace(`:5`, `: 5`),
		"a line end":                  good + "\n",
		"a second value":              good + good,
		"a leading zero":              replace(`:5`, `:05`),
		"a plus":                      replace(`:5`, `:+5`),
		"a negative number":           replace(`:5`, `:-5`),
		"a fraction":                  replace(`:5`, `:5.0`),
		"an exponent":                 replace(`:5`, `:5e0`),
		"2^53":                        replace(`:5`, `:9007199254740992`),
		"a number beyond 64 bits":     replace(`:5`, `:99999999999999999999`),
		"unsorted members":            replace(`"at":5,"bytes":3`, `"bytes":3,"at":5`),
		"a member twice":              replace(`"at":5`, `"at":5,"at":5`),
		"an unknown member":           replace(`{`, `{"aa":1,`),
		"a member of another kind":    replace(`"kind"`, `"exit":0,"kind"`),
		"a member that is missing":    replace(`"bytes":3,`, ``),
		"a member that says nothing":  replace(`"from"`, `"framing":0,"from"`),
		"an escape":                   replace(`"noise"`, `"noi\u0073e"`),
		"another kind":                replace(`"noise"`, `"whisper"`),
		"a reserved kind":             replace(`"noise"`, `"intent"`),
		"another side":                replace(`"client"`, `"proxy"`),
		"a session in capitals":       replace("0f", "0F"),
		"a short session":             replace("0f", ""),
		"another version":             replace(`"v":1`, `"v":2`),
		"no version":                  replace(`,"v":1`, ``),
		"flags that are empty":        replace(`"from"`, `"flags":[],"from"`),
		"flags that are unsorted":     replace(`"from"`, `"flags":["late","cut"],"from"`),
		"a flag twice":                replace(`"from"`, `"flags":["cut","cut"],"from"`),
		"an unknown flag":             replace(`"from"`, `"flags":["odd"],"from"`),
		"null":                        replace(`:5`, `:null`),
		"a string for a number":       replace(`:5`, `:"5"`),
		"a byte that is not ASCII":    replace(`"noise"`, "\"nois\xe9\""),
		"a hash in capitals":          replace(`}`, `,"wire":"`+strings.Repeat("AB", 32)+`"}`),
		"a hash of zeros":             replace(`}`, `,"wire":"`+strings.Repeat("00", 32)+`"}`),
		"a begin equal to the end":    replace(`"bytes"`, `"began":5,"bytes"`),
		"more than 65,535 bytes":      replace(`"bytes"`, `"b`+strings.Repeat("b", 65_535)+`":1,"bytes"`),
		"an object that does not end": strings.TrimSuffix(good, "}"),
	} {
		if l, err := DecodeLeaf([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", name, l.Entry)
		}
	}
}

func TestAnEntryThatBreaksARuleIsRefusedBeforeItIsQueued(t *testing.T) {
	t.Parallel()
	good := Entry{Kind: KindResponse, Session: newSession(), Seq: 4, At: 5, From: "server", Bytes: 3, Call: 2, Took: 1, Outcome: OutcomeOK}
	if _, err := EncodeLeaf(&good, Hash{}); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Entry){
		"an unknown kind":                        func(e *Entry) { e.Kind = "whisper" },
		"a reserved kind":                        func(e *Entry) { e.Kind = KindEpoch },
		"a session that is not hex":              func(e *Entry) { e.Session = strings.Repeat("x", 32) },
		"a negative size":                        func(e *Entry) { e.Bytes = -1 },
		"a number from 2^53 on":                  func(e *Entry) { e.At = 1 << 53 },
		"no side":                                func(e *Entry) { e.From = "" },
		"an unknown side":                        func(e *Entry) { e.From = "proxy" },
		"an unknown outcome":                     func(e *Entry) { e.Outcome = "fine" },
		"an unknown flag":                        func(e *Entry) { e.Flags = []string{"odd"} },
		"a call that comes later":                func(e *Entry) { e.Call = 4 },
		"a member of another kind":               func(e *Entry) { e.Reason = "signal" },
		"an exit code where none can be":         func(e *Entry) { e.ExitCode = 1 },
		"a duration of a call that is not known": func(e *Entry) { e.Call = -1 },
	} {
		e := good
		spoil(&e)
		if b, err := EncodeLeaf(&e, Hash{}); !errors.As(err, new(*Error)) {
			t.Errorf("%s gives %s, %v", name, b, err)
		}
	}
}

func FuzzDecodeLeaf(f *testing.F) {
	for _, e := range []Entry{
		{Kind: KindSession, Session: newSession(), At: 1, Capture: "shape"},
		{Kind: KindResponse, Session: newSession(), Seq: 4, At: 5, From: "server", Bytes: 3, Call: 2, Took: 1, Outcome: OutcomeOK, Flags: []string{"batch", "late"}},
		{Kind: KindEnd, Session: newSession(), Seq: 9, Reason: "signal", ExitCode: 143, ClientBytes: 1},
	} {
		b, err := EncodeLeaf(&e, Hash{1})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeLeaf(b)
		if err != nil {
			return
		}
		again, err := EncodeLeaf(&l.Entry, l.Detail)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s comes back as %s, %v", b, again, err)
		}
		if !json.Valid(b) {
			t.Errorf("%s is not JSON", b)
		}
	})
}

func BenchmarkDecodeLeaf(b *testing.B) {
	e := Entry{Kind: KindResponse, Session: newSession(), Seq: 400, At: 1_700_000_000_000_000, From: "server", Bytes: 300, Call: 200, Took: 1_000, Outcome: OutcomeOK, Wire: Hash{1}}
	leaf, err := EncodeLeaf(&e, Hash{2})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeLeaf(leaf); err != nil {
			b.Fatal(err)
		}
	}
}

// newSession is an id that no other session has.
func newSession() string {
	var id [16]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
