package observer

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/wire"
)

// connection names the one connection of a stdio session.
const connection = ""

// message makes an entry of one message. The readers call it.
func (o *Observer) message(m *protocol.Message) {
	e := &journal.Entry{
		At: m.At, From: m.From.String(),
		Bytes: m.Bytes, Framing: m.Framing, Wire: journal.Hash(m.Wire),
		Call: -1, Took: -1, Flags: flags(m.Flags),
	}
	if m.Began != m.At {
		e.Began = m.Began
	}
	d := &journal.Detail{}
	switch m.Kind {
	case protocol.Request:
		o.request(m, e, d)
	case protocol.Response:
		o.response(m, e, d)
	case protocol.Notification:
		o.notification(m, e, d)
	case protocol.Noise:
		e.Kind = journal.KindNoise
		o.noise(m)
		o.append(e, d)
	}
	o.sides[m.From].kept += m.Bytes + m.Framing
}

func (o *Observer) request(m *protocol.Message, e *journal.Entry, d *journal.Detail) {
	e.Kind = journal.KindRequest
	d.ID, d.Method = raw(m.ID), text(m.Method)
	d.Tool = toolOf(m.Method, m.Name)
	d.Peer = peer(m)
	d.Shape = shape(m)
	// The call is opened first, so that this entry can say that its id was
	// in use already.
	if o.calls.Open(connection, m, o.seq) {
		flag(e, "ambiguous")
	}
	o.append(e, d)
	if o.opts.Echo != nil && m.From == wire.FromClient {
		o.opts.Echo(Sighting{Method: shown(d.Method), Tool: shown(d.Tool), Bytes: m.Bytes})
	}
}

func (o *Observer) response(m *protocol.Message, e *journal.Entry, d *journal.Detail) {
	e.Kind = journal.KindResponse
	d.ID, d.Error, d.Shape, d.Peer = raw(m.ID), raw(m.ErrorCode), shape(m), peer(m)
	switch {
	case m.HasError:
		e.Outcome = journal.OutcomeError
	case m.IsError:
		e.Outcome = journal.OutcomeToolError
	default:
		e.Outcome = journal.OutcomeOK
	}
	match := o.calls.Answer(connection, m)
	if call := match.Call; call != nil {
		e.Call, e.Took = call.Seq, max(0, m.At-call.At)
		d.Method, d.Tool = text(call.Method), toolOf(call.Method, call.Name)
	}
	mark(e, match)
	o.append(e, d)
	o.settle()
	if o.opts.Echo != nil && m.From == wire.FromServer {
		o.opts.Echo(Sighting{
			Answer: true, Method: shown(d.Method), Tool: shown(d.Tool),
			Bytes: m.Bytes, Outcome: e.Outcome, Took: e.Took,
		})
	}
}

func (o *Observer) notification(m *protocol.Message, e *journal.Entry, d *journal.Detail) {
	e.Kind = journal.KindNotification
	d.Method, d.Shape = text(m.Method), shape(m)
	if d.Target = raw(m.RequestID); d.Target == nil {
		d.Target = raw(m.ProgressToken)
	}
	match := o.calls.Notify(connection, m)
	if match.Call != nil {
		e.Call = match.Call.Seq
	}
	mark(e, match)
	o.append(e, d)
	o.settle() // a cancelled call is not owed any more
}

// noise tells a person once that a server prints what is no message, because
// a strict client may fail on it and nobody would know why.
func (o *Observer) noise(m *protocol.Message) {
	if o.noisy || m.From != wire.FromServer || m.Flags&(protocol.Blank|protocol.Cut) != 0 {
		return
	}
	o.noisy = true
	o.warn("the server printed a line on its standard output that is no MCP message; it was forwarded and recorded as noise")
}

func mark(e *journal.Entry, match protocol.Match) {
	if match.Ambiguous {
		flag(e, "ambiguous")
	}
	if match.Late {
		flag(e, "late")
	}
	if match.Unasked {
		flag(e, "unasked")
	}
}

func flag(e *journal.Entry, word string) {
	if at, found := slices.BinarySearch(e.Flags, word); !found {
		e.Flags = slices.Insert(e.Flags, at, word)
	}
}

// words are the journal's names of what was odd, in the order of the alphabet.
var words = []struct {
	flag protocol.Flags
	word string
}{
	{protocol.InBatch, "batch"},
	{protocol.Blank, "blank"},
	{protocol.BOM, "bom"},
	{protocol.Cut, "cut"},
	{protocol.DuplicateKeys, "duplicate_keys"},
	{protocol.InvalidUTF8, "invalid_utf8"},
	{protocol.Malformed, "malformed"},
	{protocol.NotJSON, "not_json"},
	{protocol.Trailing, "trailing"},
	{protocol.Unterminated, "unterminated"},
}

func flags(f protocol.Flags) []string {
	var out []string
	for _, w := range words {
		if f&w.flag != 0 {
			out = append(out, w.word)
		}
	}
	return out
}

// text is what a token says; nil when it was absent.
func text(t protocol.Token) *journal.Text {
	if t.Raw == nil {
		return nil
	}
	s, cut := protocol.Text(t)
	return toText(t, s, cut)
}

// raw is a token as it was written; nil when it was absent.
func raw(t protocol.Token) *journal.Text {
	if t.Raw == nil {
		return nil
	}
	s, cut := protocol.RawText(t)
	return toText(t, s, cut)
}

func toText(t protocol.Token, s string, cut bool) *journal.Text {
	if !cut {
		return &journal.Text{Whole: s}
	}
	sum := t.Sum
	if t.Size == int64(len(t.Raw)) {
		sum = sha256.Sum256(t.Raw)
	}
	return &journal.Text{Cut: true, Bytes: t.Size, Head: s, SHA256: journal.Hash(sum)}
}

// toolOf is params.name of a tool call, whatever its type.
func toolOf(method, name protocol.Token) *journal.Text {
	if m, _ := protocol.Text(method); m != "tools/call" {
		return nil
	}
	return text(name)
}

func peer(m *protocol.Message) *journal.Peer {
	if m.PeerName.Raw == nil && m.PeerVersion.Raw == nil && m.ProtocolVersion.Raw == nil {
		return nil
	}
	return &journal.Peer{Name: text(m.PeerName), Version: text(m.PeerVersion), Protocol: text(m.ProtocolVersion)}
}

func shape(m *protocol.Message) []journal.Field {
	fields := protocol.Shape(m)
	if len(fields) == 0 {
		return nil
	}
	out := make([]journal.Field, len(fields))
	for i, f := range fields {
		out[i] = journal.Field{Name: f.Name, Type: f.Type, Bytes: f.Bytes, Count: f.Count}
	}
	return out
}

func shown(t *journal.Text) string {
	if t == nil {
		return ""
	}
	if t.Cut {
		return t.Head
	}
	return t.Whole
}

func nowMicro() int64 { return time.Now().UnixMicro() }

func countLines(b []byte) int64 { return int64(bytes.Count(b, []byte{'\n'})) }

// oneLine keeps what a panic says short.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}
