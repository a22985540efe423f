package protocol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/wire"
)

// read feeds stream in pieces of at most size bytes and returns what came
// out. The clock counts the pieces.
func read(stream string, size int) []*Message {
	var got []*Message
	r := NewReader(wire.FromClient, func(m *Message) { got = append(got, m.Clone()) })
	at := int64(0)
	for len(stream) > 0 {
		n := min(size, len(stream))
		at++
		r.Feed([]byte(stream[:n]), at)
		stream = stream[n:]
	}
	r.Close(at)
	return got
}

// sketch is a message in one line of text.
func sketch(m *Message) string {
	b := &strings.Builder{}
	b.WriteString([]string{"noise", "request", "notification", "response"}[m.Kind])
	for _, t := range []struct {
		name  string
		token Token
	}{
		{"id", m.ID},
		{"method", m.Method},
		{"name", m.Name},
		{"uri", m.URI},
		{"requestId", m.RequestID},
		{"progressToken", m.ProgressToken},
		{"meta", m.MetaProgress},
		{"version", m.ProtocolVersion},
		{"peer", m.PeerName},
		{"peerVersion", m.PeerVersion},
		{"type", m.ResultType},
		{"code", m.ErrorCode},
		{"level", m.Level},
		{"versions", m.SupportedVersions},
		{"state", m.RequestState},
		{"task", m.TaskID},
		{"status", m.TaskStatus},
		{"related", m.RelatedTask},
		{"subscription", m.SubscriptionID},
		{"message", m.ErrorMessage},
	} {
		if t.token.Raw != nil {
			fmt.Fprintf(b, " %s=%s", t.name, t.token.Raw)
		}
	}
	for _, f := range []struct {
		on   bool
		word string
	}{{m.IsError, "isError"}, {m.HasInput, "input"}, {m.MakesTask, "makesTask"}, {m.TaskIsError, "taskIsError"}} {
		if f.on {
			b.WriteString(" " + f.word)
		}
	}
	if m.Subject.End > 0 {
		fmt.Fprintf(b, " subject=%s", m.Head[m.Subject.Start:m.Subject.End])
	}
	for i, name := range flagNames {
		if m.Flags&(1<<i) != 0 {
			b.WriteString(" " + name)
		}
	}
	return b.String()
}

var flagNames = []string{
	"Blank", "NotJSON", "Malformed", "InvalidUTF8", "BOM", "Unterminated", "DuplicateKeys", "Trailing", "InBatch", "Cut",
}

func sketches(messages []*Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, sketch(m))
	}
	return all
}

// converse plays lines to a set of calls, each beginning with who says it
// (">" client, "<" server), perhaps a connection, and a space. It returns what
// became of each: "-" for nothing, else the line number of the request, and
// what else is known.
func converse(t *testing.T, calls *Calls, lines ...string) []string {
	t.Helper()
	var got []string
	var m *Message
	keep := func(read *Message) { m = read.Clone() }
	readers := [2]*Reader{NewReader(wire.FromClient, keep), NewReader(wire.FromServer, keep)}
	for i, line := range lines {
		head, text, _ := strings.Cut(line, " ")
		from, conn := wire.FromClient, head[1:]
		if head[0] == '<' {
			from = wire.FromServer
		}
		readers[from].Feed([]byte(text+"\n"), int64(i))
		var match Match
		words := []string{}
		switch m.Kind {
		case Request:
			opened := calls.Begin(conn, m, int64(i))
			match.Ambiguous, match.Task = opened.Ambiguous, opened.Task
			words = roundWords(t, opened)
		case Response:
			match = calls.Answer(conn, m)
		case Notification:
			match = calls.Notify(conn, m)
		default:
			t.Fatalf("line %d is noise: %s", i, text)
		}
		if match.Call != nil {
			words = append(words, fmt.Sprint(match.Call.Seq))
			if match.Call.Seq != match.Call.At {
				t.Errorf("line %d: the call is of %d and not of %d", i, match.Call.At, match.Call.Seq)
			}
		}
		for _, f := range []struct {
			on   bool
			word string
		}{
			{match.Ambiguous, "ambiguous"},
			{match.Late, "late"},
			{match.Unasked, "unasked"},
			{match.Interim, "interim"},
			{match.Handle, "handle"},
		} {
			if f.on {
				words = append(words, f.word)
			}
		}
		if match.Task != nil && match.Task != match.Call {
			words = append(words, fmt.Sprintf("for %d", match.Task.Seq))
		}
		if len(words) == 0 {
			words = append(words, "-")
		}
		got = append(got, strings.Join(words, " "))
	}
	return got
}

// roundWords says which round of which call a request is.
func roundWords(t *testing.T, o Opened) (words []string) {
	t.Helper()
	if (o.Continues == nil) != (o.Round < 2) || o.Call != nil && (o.Call.Round != o.Round || o.Call.First == nil) {
		t.Errorf("it is round %d, of its call %+v, and continues %+v", o.Round, o.Call, o.Continues)
	}
	if o.Continues != nil {
		words = append(words, fmt.Sprintf("round %d of %d", o.Round, o.Continues.Seq))
	}
	if o.RoundAmbiguous {
		words = append(words, "a round of several")
	}
	if o.RoundUnasked {
		words = append(words, "a round of none")
	}
	return words
}
