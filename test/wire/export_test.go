//go:build unix

package wiretest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// exported is one session of what `deed export --bodies` printed.
type exported struct {
	label   string
	session string
	entries []exportedEntry
}

// exportedEntry is one entry with what was kept of its message.
type exportedEntry struct {
	Position int64    `json:"log_position"`
	Leaf     string   `json:"leaf"`
	Kind     string   `json:"kind"`
	Seq      int64    `json:"seq"`
	From     string   `json:"from"`
	Bytes    int64    `json:"wire_bytes"`
	Framing  int64    `json:"framing_bytes"`
	Outcome  *string  `json:"outcome"`
	Flags    []string `json:"flags"`
	Detail   struct {
		ID     text `json:"id"`
		Method text `json:"method"`
		Tool   text `json:"tool"`
		Target text `json:"target"`
	} `json:"detail"`

	// What the leaf says beyond that.
	call   *int64 // the request that it belongs to
	reason string // of a gap

	body    []byte
	hasBody bool
}

// text is a text of a detail. Of one that was cut it has the beginning.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		*t = text(whole)
		return nil
	}
	var cut struct {
		Head  string `json:"head"`
		Bytes int64  `json:"bytes"`
	}
	if err := json.Unmarshal(raw, &cut); err != nil {
		return err
	}
	*t = text(cut.Head + "...")
	return nil
}

// exportOf reads everything in a home, each session under its label.
func exportOf(t *testing.T, home string) map[string]*exported {
	t.Helper()
	got := deed(t, home, "export", "-", "--bodies")
	if got.code != 0 {
		t.Fatalf("deed export: exit code %d\n%s", got.code, got.stderr)
	}
	sessions, labels := map[string]*exported{}, map[string]*exported{}
	var last *exportedEntry
	ended := false
	document := json.NewDecoder(strings.NewReader(got.stdout))
	for document.More() {
		var line struct {
			Kind     string
			Label    string
			Session  string
			Entry    *exportedEntry
			Position int64 `json:"log_position"`
			Offset   int64
			Encoding *string
			Data     *string
		}
		if err := document.Decode(&line); err != nil {
			t.Fatalf("understand the export: %v", err)
		}
		switch line.Kind {
		case "session":
			s := &exported{label: line.Label, session: line.Session}
			if labels[line.Label] != nil {
				t.Fatalf("two sessions are labelled %q", line.Label)
			}
			sessions[line.Session], labels[line.Label] = s, s
		case "entry":
			s := sessions[line.Session]
			s.entries = append(s.entries, *line.Entry)
			last = &s.entries[len(s.entries)-1]
			last.readLeaf(t)
		case "body":
			if last == nil || last.Position != line.Position || int64(len(last.body)) != line.Offset || line.Data == nil {
				t.Fatalf("a piece of a body is out of place: %+v", line)
			}
			last.hasBody = true
			last.body = append(last.body, decoded(t, *line.Encoding, *line.Data)...)
		case "export_end":
			ended = true
		}
	}
	if !ended {
		t.Fatalf("the export is not whole")
	}
	return labels
}

func decoded(t *testing.T, encoding, data string) []byte {
	t.Helper()
	switch encoding {
	case "utf-8":
		return []byte(data)
	case "base64":
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatalf("understand a body: %v", err)
		}
		return raw
	}
	t.Fatalf("a body is encoded as %q", encoding)
	return nil
}

func (e *exportedEntry) readLeaf(t *testing.T) {
	t.Helper()
	var leaf struct {
		Call   *int64
		Reason string
	}
	if err := json.Unmarshal([]byte(e.Leaf), &leaf); err != nil {
		t.Fatalf("understand the leaf %q: %v", e.Leaf, err)
	}
	e.call, e.reason = leaf.Call, leaf.Reason
}
