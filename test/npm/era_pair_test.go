package npmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// spoken is a message, read as plainly as can be from what a tee saw. It says
// how the message must be recorded.
type spoken struct {
	raw   []byte
	from  string
	seq   int64 // of its entry
	entry *kept

	ID     json.RawMessage
	Method string
	Params struct {
		Name           string
		URI            string
		RequestID      json.RawMessage
		ProgressToken  json.RawMessage
		InputResponses json.RawMessage
		Meta           struct {
			ProgressToken json.RawMessage
			Subscription  json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
		} `json:"_meta"`
	}
	Result *struct {
		IsError    bool
		ResultType string
	}
	Error *struct{ Code int }

	root   *spoken // the request that it belongs to, or that its call began with
	asked  *spoken // of a response: its request
	answer bool    // of a request: it was answered
	ended  bool    // of a request: it was cancelled
	flag   string
}

// read parts one side's bytes into messages, the nth of which is the nth entry
// of that side.
func read(t *testing.T, from string, wire []byte, entries []*kept) (all []*spoken) {
	t.Helper()
	for line := range bytes.Lines(wire) {
		m := &spoken{raw: line, from: from}
		if err := json.Unmarshal(line, m); err != nil {
			t.Fatalf("the %s said %q: %v", from, line, err)
		}
		if len(all) == len(entries) {
			t.Fatalf("of the %s %d messages are recorded, and there are more", from, len(entries))
		}
		m.entry = entries[len(all)]
		m.seq = m.entry.Seq
		all = append(all, m)
	}
	if len(all) != len(entries) {
		t.Fatalf("of the %s %d messages are recorded, and it said %d", from, len(entries), len(all))
	}
	return all
}

// pair finds what each message belongs to. The peers of these tests never use
// an id twice, so that the rules are short.
func pair(messages []*spoken) {
	requests := map[string]*spoken{}   // by side and id
	progress := map[string]*spoken{}   // by side and token
	begun := map[string]*spoken{}      // calls that wait for another round, by what they ask for
	subscribed := map[string]*spoken{} // by address
	other := map[string]string{"client": "server", "server": "client"}
	for _, m := range messages {
		switch {
		case m.Method != "" && m.ID != nil:
			requests[m.from+string(m.ID)] = m
			if token := m.Params.Meta.ProgressToken; token != nil {
				progress[m.from+string(token)] = m
			}
			if m.Params.InputResponses != nil {
				m.root = begun[m.Method+m.Params.Name]
			}
			if m.Method == "resources/subscribe" {
				subscribed[m.Params.URI] = m
			}
		case m.Method != "":
			m.root = m.subject(requests, progress, subscribed, other[m.from])
			if m.Method == "notifications/cancelled" && m.root != nil {
				m.root.ended = true
			}
			if m.Method == "notifications/progress" && (m.root == nil || m.root.answer) {
				m.root, m.flag = nil, "unasked"
			}
		default:
			asked := requests[other[m.from]+string(m.ID)]
			m.asked = asked
			asked.answer = true
			m.root = asked
			if asked.root != nil {
				m.root = asked.root
			}
			if asked.ended {
				m.flag = "late"
			}
			if m.interim() {
				begun[asked.Method+asked.Params.Name] = m.root
			}
		}
	}
}

// subject is the request that a notification is about.
func (m *spoken) subject(requests, progress, subscribed map[string]*spoken, other string) *spoken {
	switch {
	case m.Method == "notifications/cancelled":
		return requests[m.from+string(m.Params.RequestID)]
	case m.Method == "notifications/progress":
		return progress[other+string(m.Params.ProgressToken)]
	case m.Params.Meta.Subscription != nil:
		return requests[other+string(m.Params.Meta.Subscription)]
	case m.Method == "notifications/resources/updated":
		return subscribed[m.Params.URI]
	}
	return nil
}

func (m *spoken) interim() bool { return m.Result != nil && m.Result.ResultType == "input_required" }

// sketch is how the message must be recorded, in the words of [kept.sketch].
func (m *spoken) sketch() string {
	kind, method, name, outcome, call := "notification", m.Method, m.Params.Name, "", "-"
	switch {
	case m.asked != nil && m.interim():
		kind = "round"
	case m.asked != nil && m.Error != nil:
		kind, outcome = "response", "error"
	case m.asked != nil && m.Result.IsError:
		kind, outcome = "response", "tool_error"
	case m.asked != nil:
		kind, outcome = "response", "ok"
	case m.ID != nil:
		kind = "request"
	}
	if m.asked != nil {
		method, name = m.asked.Method, m.asked.Params.Name
	}
	if method != "tools/call" {
		name = "-"
	}
	if m.root != nil {
		call = fmt.Sprint(m.root.seq)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s of %s %s %s", kind, m.from, method, name, call, outcome, m.flag))
}
