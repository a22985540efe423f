package observer

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/wire"
)

// connection names the one connection of a stdio session.
const connection = ""

// message makes an entry of one message. The readers call it.
func (o *Observer) message(m *protocol.Message) {
	e := &entry.Entry{
		At: m.At, From: m.From.String(),
		Bytes: m.Bytes, Framing: m.Framing, Wire: entry.Hash(m.Wire),
		Call: -1, Took: -1, Flags: flags(m.Flags),
	}
	if m.Began != m.At {
		e.Began = m.Began
	}
	d := &entry.Detail{}
	if m.Kind != protocol.Noise {
		o.endRun()
	}
	switch m.Kind {
	case protocol.Request:
		o.request(m, e, d)
	case protocol.Response:
		o.response(m, e, d)
	case protocol.Notification:
		o.notification(m, e, d)
	case protocol.Noise:
		o.noiseLine(m, e, d)
	}
	o.sides[m.From].kept += m.Bytes + m.Framing
}

func (o *Observer) request(m *protocol.Message, e *entry.Entry, d *entry.Detail) {
	e.Kind = entry.KindRequest
	d.ID, d.Method = raw(m.ID), text(m.Method)
	d.Tool = toolOf(m.Method, m.Name)
	d.Target = o.target(m)
	d.Peer = peer(m)
	d.Shape = shape(m)
	// The call is opened first, so that this entry can say that its id was
	// in use already, or that it goes on with an earlier call.
	opened := o.calls.Begin(connection, m, o.seq)
	if opened.Ambiguous || opened.RoundAmbiguous {
		flag(e, "ambiguous")
	}
	if opened.RoundUnasked {
		flag(e, "unasked")
	}
	if opened.Continues != nil {
		e.Call = opened.Continues.Seq
	}
	if d.Method.String() == "tools/list" {
		o.lists++
		o.keepers[other(m.From)].wide = true
	}
	o.noteLong(m, d)
	body := o.content(m, e, d)
	o.append(e, d, body)
	if o.opts.Echo != nil && m.From == wire.FromClient {
		o.opts.Echo(Sighting{Method: shown(d.Method), Tool: shown(d.Tool), Bytes: m.Bytes})
	}
}

func (o *Observer) response(m *protocol.Message, e *entry.Entry, d *entry.Detail) {
	e.Kind = entry.KindResponse
	d.ID, d.Error, d.Shape = raw(m.ID), raw(m.ErrorCode), shape(m)
	d.Target = raw(m.TaskID)
	switch {
	case m.HasError:
		e.Outcome = entry.OutcomeError
	case m.IsError:
		e.Outcome = entry.OutcomeToolError
	default:
		e.Outcome = entry.OutcomeOK
	}
	match := o.calls.Answer(connection, m)
	if call := match.Call; call != nil {
		e.Call, e.Took = call.First.Seq, max(0, match.Total)
		d.Method, d.Tool = text(call.Method), toolOf(call.Method, call.Name)
		if introduces[d.Method.String()] {
			d.Peer = peer(m)
		}
	}
	if d.Peer == nil && m.PeerInMeta && m.From == wire.FromServer {
		// Since 2026-07-28 every answer may say who gives it, and there may
		// be none that does nothing else.
		d.Peer = &entry.Peer{Name: text(m.PeerName), Version: text(m.PeerVersion)}
	}
	if match.Interim {
		// The call is not over: it asks the client for something and goes
		// on under another id.
		e.Kind, e.Outcome, e.Took = entry.KindRound, "", -1
	}
	mark(e, match)
	body := o.content(m, e, d)
	o.append(e, d, body)
	o.tools(m, d, e.Call)
	o.answered(match, e, d)
	o.settle()
	if o.opts.Echo != nil && m.From == wire.FromServer && !match.Interim {
		o.opts.Echo(Sighting{
			Answer: true, Method: shown(d.Method), Tool: shown(d.Tool),
			Bytes: m.Bytes, Outcome: e.Outcome, Took: e.Took,
		})
	}
}

func (o *Observer) notification(m *protocol.Message, e *entry.Entry, d *entry.Detail) {
	e.Kind = entry.KindNotification
	d.Method, d.Shape = text(m.Method), shape(m)
	d.Target = o.target(m)
	match := o.calls.Notify(connection, m)
	if match.Call != nil {
		e.Call = match.Call.First.Seq
	}
	mark(e, match)
	body := o.content(m, e, d)
	o.append(e, d, body)
	o.settle() // a cancelled call is not owed any more
}

// target is what a message is about, besides its tool.
func (o *Observer) target(m *protocol.Message) *entry.Text {
	for _, t := range []protocol.Token{m.RequestID, m.ProgressToken, m.TaskID, m.SubscriptionID} {
		if t.Raw != nil {
			return raw(t)
		}
	}
	if m.URI.Raw == nil || o.session.Capture == Shape {
		return nil // an address is a value
	}
	said, cut := protocol.Text(m.URI)
	clean, _ := redact.Text(said)
	return kept(clean, m.URI.Size, cut)
}

// tools records the tools that a server lists, so that a definition that
// changes under a client's eyes can be told.
func (o *Observer) tools(m *protocol.Message, d *entry.Detail, call int64) {
	if d.Method.String() != "tools/list" || call < 0 {
		return
	}
	k := o.keepers[m.From]
	if o.lists--; o.lists <= 0 {
		k.wide = false
	}
	result := k.result(m)
	list, more, err := protocol.Definitions(result)
	if err != nil || len(list) == 0 {
		return // there was an error, or no list: the answer itself is recorded
	}
	e := &entry.Entry{Kind: entry.KindTools, At: m.At, From: m.From.String(), Call: call, Took: -1, Messages: int64(len(list))}
	if more {
		flag(e, "more")
	}
	listed := &entry.Detail{}
	sum := sha256.New()
	for _, definition := range list {
		sum.Write(definition.Sum[:])
		listed.Tools = append(listed.Tools, entry.ToolRef{
			Name: text(definition.Name), SHA256: entry.Hash(definition.Sum), Bytes: definition.Bytes,
			Kept: o.define(definition, result),
		})
	}
	e.Definitions = entry.Hash(sum.Sum(nil))
	o.append(e, listed, nil)
}

// define keeps the text of a definition, so that a change can be shown, and
// says whether it is kept.
func (o *Observer) define(definition protocol.Definition, result []byte) bool {
	if o.journal == nil || definition.Raw || o.session.Capture == Shape {
		return false
	}
	canonical, err := protocol.Canonical(result[definition.Span.Start:definition.Span.End])
	if err != nil {
		return false // then it is known by its hash alone
	}
	if _, found := redact.Value(canonical); found.Total() > 0 {
		// With its secrets taken out it would not be what its hash says.
		return false
	}
	if err := o.journal.Define(o.ctx, entry.Hash(definition.Sum), canonical); err != nil {
		o.lost++
		return false
	}
	return true
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

func mark(e *entry.Entry, match protocol.Match) {
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

func flag(e *entry.Entry, word string) {
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
func text(t protocol.Token) *entry.Text {
	if t.Raw == nil {
		return nil
	}
	s, cut := protocol.Text(t)
	return toText(t, clean(s), cut)
}

// raw is a token as it was written; nil when it was absent.
func raw(t protocol.Token) *entry.Text {
	if t.Raw == nil {
		return nil
	}
	s, cut := protocol.RawText(t)
	return toText(t, clean(s), cut)
}

// clean takes a secret out of a name or an id, which are kept at every level.
// What is shorter than any key is as it was.
func clean(s string) string {
	const shortestKey = 16
	if len(s) < shortestKey {
		return s
	}
	out, _ := redact.Text(s)
	return out
}

func toText(t protocol.Token, s string, cut bool) *entry.Text {
	if !cut {
		return &entry.Text{Whole: s}
	}
	sum := t.Sum
	if t.Size == int64(len(t.Raw)) {
		sum = sha256.Sum256(t.Raw)
	}
	return &entry.Text{Cut: true, Bytes: t.Size, Head: s, SHA256: entry.Hash(sum)}
}

// toolOf is params.name of a tool call, whatever its type.
func toolOf(method, name protocol.Token) *entry.Text {
	if m, _ := protocol.Text(method); m != "tools/call" {
		return nil
	}
	return text(name)
}

// introduces are the methods whose answer says who the server is outside of
// _meta. In another answer the same members would be a value.
var introduces = map[string]bool{"initialize": true, "server/discover": true}

func peer(m *protocol.Message) *entry.Peer {
	if m.PeerName.Raw == nil && m.PeerVersion.Raw == nil && m.ProtocolVersion.Raw == nil {
		return nil
	}
	return &entry.Peer{Name: text(m.PeerName), Version: text(m.PeerVersion), Protocol: text(m.ProtocolVersion)}
}

func shape(m *protocol.Message) []entry.Field {
	fields := protocol.Shape(m)
	if len(fields) == 0 {
		return nil
	}
	out := make([]entry.Field, len(fields))
	for i, f := range fields {
		out[i] = entry.Field{Name: clean(f.Name), Type: f.Type, Bytes: f.Bytes, Count: f.Count}
	}
	return out
}

func shown(t *entry.Text) string {
	if t == nil {
		return ""
	}
	if t.Cut {
		return t.Head
	}
	return t.Whole
}

func other(d wire.Direction) wire.Direction {
	if d == wire.FromClient {
		return wire.FromServer
	}
	return wire.FromClient
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
