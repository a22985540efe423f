//go:build unix

package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Under raw, what was kept is what crossed the wire: the bodies of one side,
// one after the other, are that side's bytes, but for what a gap says is missing.
func TestUnderRawTheRecordIsTheWireByteForByte(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	t.Run("scenes", func(t *testing.T) {
		for i, c := range hostile {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				sc := scene{toServer: lines(c.data, 10_000), toClient: otherWay(c.data), mayTell: true}
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
		for from, crossed := range map[string][]byte{"client": lines(c.data, 10_000), "server": otherWay(c.data)} {
			if unseen := mustBeExact(t, c.name, s, from, crossed); unseen > 0 {
				t.Errorf("%s: %d bytes of the %s are in gaps, though the recorder had the time", c.name, unseen, from)
			}
			total += int64(len(crossed))
		}
	}
	mustCover(t, home, total, total)
}

// lines is data up to so many line ends. More would only take longer.
func lines(data string, most int) []byte {
	all := slices.Collect(strings.Lines(data))
	return []byte(strings.Join(all[:min(len(all), most)], ""))
}

// otherWay has the lines of data in the other order, so that the two sides do
// not say the same.
func otherWay(data string) []byte {
	all := slices.Collect(strings.Lines(data))
	all = all[:min(len(all), 1000)]
	if len(all) > 1 && !strings.HasSuffix(data, "\n") {
		all[len(all)-1] += "\n"
	}
	slices.Reverse(all)
	return []byte(strings.Join(all, ""))
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
