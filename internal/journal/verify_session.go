package journal

import "github.com/deed-dev/deed/internal/journal/entry"

// sessionState is what must be known of a session to judge its next entry.
type sessionState struct {
	next     int64           // the Seq that must come
	requests []byte          // by Seq: who asked, or that it is an intent, or nobody
	intents  map[int64]int64 // by Seq: those that are not settled, with their place in the log
	ended    bool
	raw      bool // it keeps bodies just as they crossed the wire

	client, server int64 // wire bytes so far, gaps included
}

// Who asked, as requests keeps it.
const (
	nobody byte = iota
	askedByClient
	askedByServer
	anIntent // and no request
)

// checkPlace judges an entry by what came before it in its session.
func (v *verification) checkPlace(n int64, e *entry.Entry) {
	if e.Session == entry.OwnSession {
		v.checkOwn(n, e)
		return
	}
	s := v.sessions[e.Session]
	if s == nil {
		s = &sessionState{}
		v.sessions[e.Session] = s
		v.report.Sessions++
		v.report.OpenSessions++
	}
	v.checkOrder(n, e, s)
	v.checkCall(n, e, s)
	if e.Kind == entry.KindIntent {
		v.checkIntent(n, e, s)
	}
	v.count(e, s)
	s.raw = s.raw || e.Capture == "raw"
	if e.Kind == entry.KindEnd {
		v.checkTotals(n, e, s)
		if !s.ended {
			v.report.OpenSessions--
		}
		s.ended, s.requests = true, nil
	}
}

func (v *verification) checkOrder(n int64, e *entry.Entry, s *sessionState) {
	switch {
	case s.ended:
		v.report.find(n, "the entry comes after the end of session %s", e.Session)
	case e.Seq > s.next && s.next == 0:
		v.report.find(n, "session %s begins with entry %d of it: the beginning is missing", e.Session, e.Seq)
	case e.Seq > s.next:
		v.report.find(n, "entries %d to %d of session %s are missing", s.next, e.Seq-1, e.Session)
	case e.Seq < s.next:
		v.report.find(n, "entry %d of session %s comes out of order", e.Seq, e.Session)
	}
	if (e.Seq == 0) != (e.Kind == entry.KindSession) {
		v.report.find(n, "entry %d of session %s is a %s", e.Seq, e.Session, e.Kind)
	}
	s.next = e.Seq + 1
}

func (v *verification) checkCall(n int64, e *entry.Entry, s *sessionState) {
	if s.ended {
		return
	}
	for int64(len(s.requests)) < e.Seq {
		if e.Seq-int64(len(s.requests)) > 1<<20 {
			return // a number made up to take our memory; told as a hole already
		}
		s.requests = append(s.requests, nobody)
	}
	who := nobody
	if e.Kind == entry.KindRequest {
		who = askedByServer
		if e.From == "client" {
			who = askedByClient
		}
	}
	if e.Kind == entry.KindIntent && e.Intent == 0 {
		who = anIntent
	}
	if e.Seq == int64(len(s.requests)) {
		s.requests = append(s.requests, who)
	}
	if e.Call <= 0 {
		return
	}
	asked := nobody
	if e.Call < int64(len(s.requests)) {
		asked = s.requests[e.Call]
	}
	switch {
	case asked == nobody || asked == anIntent:
		v.report.find(n, "the entry belongs to entry %d of its session, which is no request", e.Call)
	case e.Kind == entry.KindResponse && (asked == askedByClient) == (e.From == "client"):
		v.report.find(n, "the %s answers its own request %d", e.From, e.Call)
	}
}

// count adds up wire bytes. What a server wrote to stderr is not on the wire.
func (v *verification) count(e *entry.Entry, s *sessionState) {
	bytes := e.Bytes + e.Framing
	switch e.Kind {
	case entry.KindStderr, entry.KindSession, entry.KindEnd:
		return
	case entry.KindGap:
		v.report.Gaps++
		v.report.UnseenBytes += bytes
	default:
		v.report.SeenBytes += bytes
	}
	switch e.From {
	case "client":
		s.client += bytes
	case "server":
		s.server += bytes
	}
}

func (v *verification) checkTotals(n int64, e *entry.Entry, s *sessionState) {
	if s.client != e.ClientBytes {
		v.report.find(n, "%d bytes crossed from the client in session %s, and its entries account for %d", e.ClientBytes, e.Session, s.client)
	}
	if s.server != e.ServerBytes {
		v.report.find(n, "%d bytes crossed from the server in session %s, and its entries account for %d", e.ServerBytes, e.Session, s.server)
	}
}
