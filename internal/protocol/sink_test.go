package protocol

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/wire"
)

// basket is a sink that keeps the last message, and the framing around it.
type basket struct {
	bytes.Buffer
	ahead, behind bytes.Buffer
	empty         bool // it was given nothing where something was promised
}

func (b *basket) Begin(framed bool) {
	b.ahead.Reset()
	b.behind.Reset()
	if framed {
		b.ahead.Write(b.Bytes())
	}
	b.Reset()
}

func (b *basket) Frame(piece []byte) {
	b.empty = b.empty || len(piece) == 0
	b.behind.Write(piece)
}

// framed is the message as it stood on the wire.
func (b *basket) framed() string { return b.ahead.String() + b.String() + b.behind.String() }

func (b *basket) Take(piece []byte) {
	b.empty = b.empty || len(piece) == 0
	b.Write(piece)
}

func TestASinkHasExactlyTheBytesOfAMessageWhenItIsEmitted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := stream(t)
		var b basket
		at := 0
		r := NewReader(wire.FromServer, func(m *Message) {
			if int64(b.Len()) != m.Bytes {
				t.Fatalf("the sink has %d bytes of a message of %d", b.Len(), m.Bytes)
			}
			if m.Wire != sha256.Sum256(append(m.Salt[:], b.Bytes()...)) {
				t.Fatalf("%q was hashed to something else", b.Bytes())
			}
			if want := s[at : at+int(m.Bytes+m.Framing)]; b.framed() != want {
				t.Fatalf("the sink has %q with its framing, on the wire was %q", b.framed(), want)
			}
			at += int(m.Bytes + m.Framing)
		})
		r.SetSink(&b)
		for rest := s; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			r.Feed([]byte(rest[:n]), 1)
			rest = rest[n:]
		}
		r.Close(1)
		if at != len(s) || b.empty {
			t.Fatalf("%d bytes of %d were given, some pieces empty: %v", at, len(s), b.empty)
		}
	})
}

func TestASinkIsGivenMessagesElementsAndNoiseInTurn(t *testing.T) {
	t.Parallel()
	var b basket
	var got []string
	r := NewReader(wire.FromClient, func(*Message) { got = append(got, b.String()) })
	r.SetSink(&b)
	for _, piece := range []string{
		"{\"id\":1,", "\"method\":\"m\"}\r\n", " [ {\"id\":2}", " , 3, ", "{\"id\":4} ]\nready", "\n", "{\"id\":5",
	} {
		r.Feed([]byte(piece), 1)
	}
	r.Gap(10, 1, 1)
	r.Feed([]byte("rest\n\n"), 1)
	r.Close(1)
	want := []string{"{\"id\":1,\"method\":\"m\"}\r\n", `{"id":2}`, "3, ", `{"id":4}`, "ready\n", `{"id":5`, "rest\n", "\n"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("it was given %q, want %q", got, want)
	}
}

func TestASinkCanBeTakenAwayBetweenMessages(t *testing.T) {
	t.Parallel()
	var b basket
	var r *Reader
	r = NewReader(wire.FromClient, func(*Message) { r.SetSink(nil) })
	r.SetSink(&b)
	r.Feed([]byte("[{\"id\":1},{\"id\":2}]\n{\"id\":3}\n"), 1)
	if b.String() != `{"id":1}` {
		t.Errorf("it was given %q after it was taken away", b.String())
	}
}
