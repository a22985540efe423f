package observer

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/signal"
)

// How much of what was said stands in a detail, for the answers. Bodies hold
// more.
const (
	argsLimit    = 8 << 10
	previewLimit = 512
	errorLimit   = 1 << 10
)

// content adds to a detail what was said in a message, and returns the body to
// keep of it. Everything passes the redaction here, whatever the level is of
// what is kept: details are shown on terminals and in answers.
func (o *Observer) content(m *protocol.Message, e *entry.Entry, d *entry.Detail) *journal.Body {
	k := o.keepers[m.From]
	if k.level == Shape {
		return nil
	}
	if k.level == Redacted && o.buf.Behind() {
		// Looking for secrets is most of the work. An entry without its
		// content is better than the gap that would soon be the price of it.
		flag(e, "skimmed")
		return nil
	}
	var found redact.Report
	switch m.Kind {
	case protocol.Request, protocol.Notification:
		subject := m.Spans.Arguments
		if subject == (protocol.Span{}) {
			subject = m.Spans.Params
		}
		d.Args, found = excerpt(k, subject, argsLimit, found)
		if m.Spans.Arguments != (protocol.Span{}) {
			d.Destinations = destinations(k, m.Spans.Arguments)
		}
	case protocol.Response:
		switch {
		case m.HasError:
			d.ErrorText, found = errorText(m, found)
		case m.IsError:
			d.ErrorText, found = toolError(k, m, found)
		default:
			d.Preview, found = preview(k, m, found)
		}
	case protocol.Noise:
		d.Preview, found = excerpt(k, protocol.Span{End: m.Bytes}, previewLimit, found)
	}
	body, inBody := o.body(k)
	// The body holds what the detail holds, so its count is the whole count.
	if inBody.Total() > found.Total() {
		found = inBody
	}
	d.Redacted = counts(found)
	return body
}

// body is what is kept of the message beside its detail.
func (o *Observer) body(k *keeper) (*journal.Body, redact.Report) {
	switch k.level {
	case Raw:
		return k.rawBody(o.warnBody), nil
	case Redacted:
		return k.redactedBody()
	}
	return nil, nil
}

func (k *keeper) redactedBody() (*journal.Body, redact.Report) {
	head, tail, omitted := k.parts()
	if omitted == 0 {
		whole := head // the journal keeps no reference to it
		if len(tail) > 0 {
			whole = append(append(make([]byte, 0, len(head)+len(tail)), head...), tail...)
		}
		kept, found := redact.Value(whole)
		return &journal.Body{Bytes: kept}, found
	}
	first, found := redact.Fragment(head, redact.CutTail)
	last, more := redact.Fragment(tail, redact.CutHead)
	kept := append(append(make([]byte, 0, len(first)+len(last)), first...), last...)
	return &journal.Body{Bytes: kept, Head: int64(len(first)), Omitted: omitted}, found.Merge(more)
}

// rawBody is the message as it crossed the wire, with the framing around it.
func (k *keeper) rawBody(warn func(error)) *journal.Body {
	if k.failed != nil {
		warn(k.failed)
		k.discard()
		return nil
	}
	if k.file != nil {
		return &journal.Body{Spill: k.file}
	}
	return &journal.Body{Bytes: k.head}
}

func (o *Observer) warnBody(err error) {
	if o.bodyless {
		return
	}
	o.bodyless = true
	o.warn("a message is recorded without its content: " + oneLine(err.Error()))
}

// piece is the part of a span that is at hand, and whether its end is missing.
func (k *keeper) piece(s protocol.Span) ([]byte, redact.Ends) {
	s.Start, s.End = s.Start+k.ahead, s.End+k.ahead
	if s.Start >= int64(len(k.head)) || s.End <= s.Start {
		return nil, 0
	}
	if s.End > int64(len(k.head)) {
		return k.head[s.Start:], redact.CutTail
	}
	return k.head[s.Start:s.End], 0
}

// excerptWindow is how much is searched for secrets to show a few bytes of it:
// twice as much as is ever shown. What reaches beyond it could be half of a
// secret and is searched as such.
const excerptWindow = 2 * argsLimit

// excerpt is the beginning of a part of a message, its secrets taken out.
func excerpt(k *keeper, s protocol.Span, limit int, found redact.Report) (*entry.Text, redact.Report) {
	raw, ends := k.piece(s)
	if len(raw) == 0 {
		return nil, found
	}
	if len(raw) > max(excerptWindow, limit) {
		raw, ends = raw[:max(excerptWindow, limit)], ends|redact.CutTail
	}
	whole, report := redact.Fragment(raw, ends)
	text, _ := redact.Preview(whole, limit, ends)
	return kept(text, s.End-s.Start, ends != 0 || len(text) < len(whole)), found.Merge(report)
}

// kept makes a text of what was kept of so many bytes.
func kept(text string, size int64, cut bool) *entry.Text {
	text = readable(text)
	if !cut && len(text) <= entry.TextLimit {
		return &entry.Text{Whole: text}
	}
	// Without a hash: one over what was said would let its reader try out
	// what the placeholders stand for.
	return &entry.Text{Cut: true, Bytes: size, Head: text}
}

// readable spells out what is not UTF-8.
func readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + string("0123456789abcdef"[s[0]>>4]) + string("0123456789abcdef"[s[0]&15]))
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// errorText is error.message.
func errorText(m *protocol.Message, found redact.Report) (*entry.Text, redact.Report) {
	if m.ErrorMessage.Raw == nil {
		return nil, found
	}
	said, cut := protocol.Text(m.ErrorMessage)
	text, report := redact.Text(said)
	return kept(clipText(text, errorLimit), m.ErrorMessage.Size, cut || len(text) > errorLimit), found.Merge(report)
}

// toolError is what a tool said when it failed: its texts, or what there is.
func toolError(k *keeper, m *protocol.Message, found redact.Report) (*entry.Text, redact.Report) {
	return said(k, m, errorLimit, found)
}

// preview is the beginning of a result.
func preview(k *keeper, m *protocol.Message, found redact.Report) (*entry.Text, redact.Report) {
	return said(k, m, previewLimit, found)
}

func said(k *keeper, m *protocol.Message, limit int, found redact.Report) (*entry.Text, redact.Report) {
	raw, _ := k.piece(m.Spans.Content)
	if text, whole := protocol.ContentText(raw, excerptWindow); text != "" {
		clean, report := redact.Text(text)
		return kept(clipText(clean, limit), m.Spans.Content.End-m.Spans.Content.Start, !whole || len(clean) > limit), found.Merge(report)
	}
	return excerpt(k, m.Spans.Result, limit, found)
}

// clipText cuts between runes, and never inside a placeholder, which would
// leave half of one behind.
func clipText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut, _ := redact.Preview([]byte(s), limit, 0)
	return cut
}

// destinations are where the arguments send data.
func destinations(k *keeper, s protocol.Span) *entry.Destinations {
	raw, ends := k.piece(s)
	found := signal.Find(raw)
	if found.Empty() && ends == 0 {
		return nil
	}
	d := &entry.Destinations{Hosts: found.Hosts, Emails: found.Emails, IPs: found.IPs, Cut: found.Cut || ends != 0}
	for kind, n := range map[string]int{"hosts": found.Content.Hosts, "emails": found.Content.Emails, "ips": found.Content.IPs} {
		if n > 0 {
			if d.Content == nil {
				d.Content = map[string]int64{}
			}
			d.Content[kind] = int64(n)
		}
	}
	return d
}

func counts(r redact.Report) map[string]int64 {
	if r.Total() == 0 {
		return nil
	}
	out := make(map[string]int64, len(r))
	for reason, n := range r {
		out[string(reason)] = int64(n)
	}
	return out
}

// result is the raw result of a message, when all of it is at hand.
func (k *keeper) result(m *protocol.Message) []byte {
	raw, ends := k.piece(m.Spans.Result)
	if ends != 0 {
		return nil
	}
	return bytes.TrimSpace(raw)
}
