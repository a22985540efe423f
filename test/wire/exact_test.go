//go:build unix

package wiretest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Under raw, what was kept is what crossed the wire: the bodies of one side,
// one after the other, are that side's bytes.
func TestUnderRawTheRecordIsTheWireByteForByte(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	t.Run("scenes", func(t *testing.T) {
		for i, c := range hostile {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				sc := scene{toServer: []byte(c.data), toClient: reversed(c.data), mayTell: true}
				tr := play(t, throughDeed(home, "--capture", "raw", "--label", fmt.Sprint("scene ", i)), sc)
				if err := tr.is(sc); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
	sessions := exportOf(t, home)
	total := int64(0)
	for i, c := range hostile {
		s := sessions[fmt.Sprint("scene ", i)]
		if s == nil {
			t.Errorf("%s: not recorded", c.name)
			continue
		}
		for from, crossed := range map[string][]byte{"client": []byte(c.data), "server": reversed(c.data)} {
			if unseen := mustBeExact(t, c.name, s, from, crossed); unseen > 0 {
				t.Errorf("%s: %d bytes of the %s are in gaps, though the recorder had the time", c.name, unseen, from)
			}
			total += int64(len(crossed))
		}
	}
	mustCover(t, home, total, total)
}

// reversed has the lines of data in the other order, so that the two sides do
// not say the same.
func reversed(data string) []byte {
	lines := slices.Collect(strings.Lines(data))
	if len(lines) > 1 && !strings.HasSuffix(data, "\n") {
		lines[len(lines)-1] += "\n"
	}
	slices.Reverse(lines)
	return []byte(strings.Join(lines, ""))
}

// mustBeExact compares what was kept of one side with what crossed, entry by
// entry and each in its place, and returns how many bytes are in gaps.
func mustBeExact(t *testing.T, name string, s *exported, from string, crossed []byte) (unseen int64) {
	t.Helper()
	at := int64(0)
	for _, e := range s.entries {
		if e.From != from || e.Kind == "stderr" || e.Kind == "tools" {
			continue
		}
		end := at + e.Bytes + e.Framing
		if end > int64(len(crossed)) {
			t.Errorf("%s: entry %d of the %s reaches to byte %d of %d", name, e.Seq, from, end, len(crossed))
			return unseen
		}
		switch {
		case e.Kind == "gap":
			unseen += e.Bytes
		case !e.hasBody:
			t.Errorf("%s: of entry %d of the %s nothing was kept", name, e.Seq, from)
		case !bytes.Equal(e.body, crossed[at:end]):
			t.Errorf("%s: entry %d of the %s differs from what crossed: %s", name, e.Seq, from, difference(e.body, crossed[at:end]))
		}
		at = end
	}
	if at != int64(len(crossed)) {
		t.Errorf("%s: %d bytes of the %s are recorded or counted, %d crossed", name, at, from, len(crossed))
	}
	return unseen
}

// mustCover fails the test unless deed verify counts so many bytes that
// crossed, and so many that are kept exactly.
func mustCover(t *testing.T, home string, crossed, exact int64) {
	t.Helper()
	var verdict struct {
		Intact bool
		Seen   int64 `json:"seen_bytes"`
		Unseen int64 `json:"unseen_bytes"`
		Exact  int64 `json:"exact_bytes"`
	}
	got := deed(t, home, "verify", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &verdict); err != nil {
		t.Fatalf("deed verify --json printed %q: %v", got.stdout, err)
	}
	if !verdict.Intact || verdict.Seen+verdict.Unseen != crossed || verdict.Exact != exact {
		t.Errorf("deed verify says %+v, want an intact journal of %d bytes, %d of them exact", verdict, crossed, exact)
	}
}

// What fell into a gap is not in the record, and everything else is, in its
// place and to the byte: also the two halves of a line that a gap cut.
func TestUnderRawWhatNoGapCoversIsExact(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
	db, err := sql.Open("sqlite", "file:"+journal+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	held, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	s := open(t, throughDeed(home, "--capture", "raw", "--label", "behind"), setup{})
	s.client.write(callTo("first", "1"))
	s.server.mustRead(callTo("first", "1"))
	if _, err := held.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	// More than the tap holds, each line told from every other.
	var crossed bytes.Buffer
	crossed.Write(callTo("first", "1"))
	var reading Got
	server := s.server.start("Read", int64(-1), &reading)
	for n := range 1100 {
		line := callWith(`"` + strings.Repeat(fmt.Sprintf("%07d ", n), 12<<10) + `"`)
		s.client.write([]byte(line))
		crossed.WriteString(line)
	}
	if _, err := held.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	tail := callTo("last", "2")
	s.client.write(tail)
	crossed.Write(tail)
	s.client.closeInput()
	server.must()
	s.server.exit(0)
	s.client.mustExit(0, patience)
	behind := exportOf(t, home)["behind"]
	unseen := mustBeExact(t, "behind", behind, "client", crossed.Bytes())
	t.Logf("of %d bytes %d are in gaps", crossed.Len(), unseen)
	if unseen == 0 {
		t.Error("there is no gap, so nothing was tested")
	}
}
