package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

var update = flag.Bool("update", false, "write the generated parts of the format page again")

const formatPage = "../../docs/journal-format.md"

func TestTheFormatPageHasTheSchemaAndATrueExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(formatPage)
	if err != nil {
		t.Fatal(err)
	}
	want := section(t, string(page), "schema", "```sql\n"+strings.TrimSpace(schema)+"\n```\n")
	want = section(t, want, "example", "```text\n"+workedExample(t)+"```\n")
	want = section(t, want, "unbound", unboundTable())
	if *update {
		if err := os.WriteFile(formatPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("the format page is not what the code says; run go test ./internal/journal -run FormatPage -update")
	}
}

// unboundTable is the page's list of what verify cannot find.
func unboundTable() string {
	var b strings.Builder
	b.WriteString("| Table | Columns | What |\n|---|---|---|\n")
	for _, one := range NotBound() {
		columns := "all"
		if one.Columns != nil {
			columns = strings.ReplaceAll("`"+strings.Join(one.Columns, "`, `")+"`", "`"+aRow+"`", aRow)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", one.Table, columns, one.What)
	}
	return b.String()
}

// section replaces what is between two marks.
func section(t *testing.T, page, name, content string) string {
	begin, end := "<!-- "+name+" -->\n", "<!-- "+name+" end -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the format page has no marks for its %s", name)
	}
	return before + begin + content + end + after
}

// workedExample is made of the package's encoder, and of nothing but SHA-256
// for everything that a stranger would have to compute.
func workedExample(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	sum := func(parts ...[]byte) []byte {
		h := sha256.Sum256(bytes.Join(parts, nil))
		return h[:]
	}
	session := "6d4e47f7c0ffee00112233445566aabb"
	entries := []struct {
		entry  entry.Entry
		detail *entry.Detail
	}{
		{
			entry.Entry{Kind: entry.KindSession, Session: session, Seq: 0, At: 1_764_547_200_000_000, Capture: "shape"},
			&entry.Detail{Label: "shop", Program: "shop", Transport: "stdio", Version: "1.0.0"},
		},
		{
			entry.Entry{
				Kind: entry.KindRequest, Session: session, Seq: 1, At: 1_764_547_200_250_000, From: "client", Bytes: 131,
				Wire: entry.Hash(sum(bytes.Repeat([]byte{0xaa}, entry.SaltBytes), []byte("an example"))),
			},
			&entry.Detail{ID: text("7"), Method: text("tools/call"), Tool: text("refund"), Shape: []entry.Field{{Name: "order", Type: "string", Bytes: 9}}},
		},
		{
			entry.Entry{Kind: entry.KindEnd, Session: session, Seq: 2, At: 1_764_547_201_000_000, Reason: "server_exit", ExitCode: 1, Open: 1, ClientBytes: 131},
			nil,
		},
	}
	var hashes [][]byte
	for n, one := range entries {
		var bound entry.Hash
		say("entry %d", n)
		if one.detail != nil {
			_, data, _, err := entry.SealDetail(one.detail)
			if err != nil {
				t.Fatal(err)
			}
			salt := bytes.Repeat([]byte{byte(n + 1)}, entry.SaltBytes)
			bound = entry.Hash(sum(salt, data))
			say("  salt          %x", salt)
			say("  data          %s", data)
			say("  detail hash   %s", bound)
		}
		leaf, err := entry.EncodeLeaf(&one.entry, bound)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, sum([]byte{0}, leaf))
		say("  leaf          %s", leaf)
		say("  leaf hash     %s", hex.EncodeToString(hashes[n]))
	}
	left := sum([]byte{1}, hashes[0], hashes[1])
	root := sum([]byte{1}, left, hashes[2])
	say("peaks of size 3 %x", left)
	say("                %x", hashes[2])
	say("root of size 3  %x", root)

	log := mustEmptyFrontier()
	for _, hash := range hashes {
		log.Append([32]byte(hash), nil)
	}
	if got := log.Root(); !bytes.Equal(got[:], root) {
		t.Errorf("the package's root is %x, the one computed by hand %x", got, root)
	}
	return b.String()
}
