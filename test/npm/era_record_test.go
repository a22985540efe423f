package npmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// kept is one entry of an export, with what was kept of its message.
type kept struct {
	Kind   string
	Seq    int64
	From   string
	Leaf   string
	Detail struct {
		Method, Tool any
		Peer         *struct{ Name, Version, Protocol any }
	}
	Outcome *string
	Flags   []string
	call    *int64
	body    []byte
}

// sessionsIn reads every session in a home.
func sessionsIn(t *testing.T, home string) map[string][]*kept {
	t.Helper()
	cmd := exec.Command(deed, "export", "-", "--bodies")
	cmd.Env = append(os.Environ(), "DEED_HOME="+home)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("deed export: %v", err)
	}
	sessions := map[string][]*kept{}
	var last *kept
	for document := json.NewDecoder(bytes.NewReader(text)); document.More(); {
		var line struct {
			Kind, Session, Encoding, Data string
			Entry                         *kept
		}
		if err := document.Decode(&line); err != nil {
			t.Fatalf("understand the export: %v", err)
		}
		switch line.Kind {
		case "entry":
			last = line.Entry
			var leaf struct{ Call *int64 }
			if err := json.Unmarshal([]byte(last.Leaf), &leaf); err != nil {
				t.Fatalf("understand a leaf: %v", err)
			}
			last.call = leaf.Call
			sessions[line.Session] = append(sessions[line.Session], last)
		case "body":
			part := []byte(line.Data)
			if line.Encoding == "base64" {
				if part, err = base64.StdEncoding.DecodeString(line.Data); err != nil {
					t.Fatalf("understand a body: %v", err)
				}
			}
			last.body = append(last.body, part...)
		case "gap":
			t.Errorf("there is a gap: %+v", line)
		}
	}
	return sessions
}

// checkRecord holds what was recorded against what a tee saw.
func (e encounter) checkRecord(t *testing.T, home string, wire tapped) {
	t.Helper()
	var verdict struct {
		Intact bool
		Seen   int64 `json:"seen_bytes"`
		Exact  int64 `json:"exact_bytes"`
	}
	ask(t, home, &verdict, "verify", "--json")
	if !verdict.Intact || verdict.Exact != verdict.Seen {
		t.Errorf("deed verify says %+v, want an intact journal, all of it exact", verdict)
	}
	var session []*kept
	for _, entries := range sessionsIn(t, home) {
		isCall := func(k *kept) bool { return k.Detail.Method == "tools/call" }
		if slices.ContainsFunc(entries, isCall) {
			session = entries
			continue
		}
		// A client looked at the server before it began to work with it.
		if !slices.ContainsFunc(entries, func(k *kept) bool { return k.Kind == "response" && k.Detail.Method == "server/discover" }) {
			t.Errorf("a session has neither calls nor a look at the server: %v", sketches(entries))
		}
	}
	var sides [2][]*kept
	for _, k := range session {
		switch {
		case k.Kind == "session" || k.Kind == "end" || k.Kind == "tools" || k.Kind == "stderr":
		case k.From == "client":
			sides[0] = append(sides[0], k)
		default:
			sides[1] = append(sides[1], k)
		}
	}
	for i, crossed := range [][]byte{wire.in, wire.out} {
		var bodies []byte
		for _, k := range sides[i] {
			bodies = append(bodies, k.body...)
		}
		if !bytes.Equal(bodies, crossed) {
			t.Errorf("the bodies of side %d are not what crossed", i)
		}
	}
	messages := append(read(t, "client", wire.in, sides[0]), read(t, "server", wire.out, sides[1])...)
	slices.SortFunc(messages, func(a, b *spoken) int { return int(a.seq - b.seq) })
	pair(messages)
	for _, m := range messages {
		if want, got := m.sketch(), m.entry.sketch(); got != want {
			t.Errorf("%s\n    recorded as %s\n    want        %s", short(string(m.raw)), got, want)
		}
	}
	e.checkSaid(t, session)
	e.checkPeers(t, session)
}

// checkSaid demands that there was everything to record.
func (e encounter) checkSaid(t *testing.T, session []*kept) {
	t.Helper()
	said := map[string]int{}
	for _, k := range session {
		said[fmt.Sprint(k.Kind, " ", k.From, " ", k.Detail.Method)]++
	}
	for what, least := range merged(inEveryEra, e.says) {
		if said[what] < least {
			t.Errorf("%q is recorded %d times, want %d at least", what, said[what], least)
		}
	}
	for _, want := range []string{"ok", "tool_error", "error"} {
		if !slices.ContainsFunc(session, func(k *kept) bool { return k.Outcome != nil && *k.Outcome == want }) {
			t.Errorf("no call ended %q", want)
		}
	}
}

// checkPeers demands that both sides are known by name, with the version of the
// protocol that they speak.
func (e encounter) checkPeers(t *testing.T, session []*kept) {
	t.Helper()
	names := map[string]string{"client": "era client of " + e.client, "server": "era server of " + e.server}
	versions := map[string]string{"client": "3.2.1", "server": "1.2.3"}
	known, protocols := map[string]bool{}, map[any]bool{}
	for _, k := range session {
		peer := k.Detail.Peer
		if peer == nil {
			continue
		}
		if peer.Name != nil {
			known[k.From] = true
			if peer.Name != names[k.From] || peer.Version != versions[k.From] {
				t.Errorf("the %s is recorded as %v %v, want %s %s", k.From, peer.Name, peer.Version, names[k.From], versions[k.From])
			}
		}
		if peer.Protocol != nil {
			protocols[peer.Protocol] = true
		}
	}
	for _, side := range []string{"client", "server"} {
		if !known[side] {
			t.Errorf("nothing says who the %s is", side)
		}
	}
	if !protocols[e.era] {
		t.Errorf("the protocol is recorded as %v, want %s", protocols, e.era)
	}
}

func (k *kept) sketch() string {
	call := "-"
	if k.call != nil {
		call = fmt.Sprint(*k.call)
	}
	outcome := ""
	if k.Outcome != nil {
		outcome = *k.Outcome
	}
	word := func(v any) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s of %s %s %s", k.Kind, k.From, word(k.Detail.Method), word(k.Detail.Tool), call, outcome, strings.Join(k.Flags, " ")))
}

func sketches(entries []*kept) (all []string) {
	for _, k := range entries {
		all = append(all, k.sketch())
	}
	return all
}
