package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
)

func TestARowSaysWhatWasDoneInOneOrder(t *testing.T) {
	t.Parallel()
	e := audit.Entry("ada@example.com", 7, "key.created", "4fT9xK2b", audit.Metadata{
		"scopes": "actions:read", "name": "recorder", "sources": []string{"stripe"}, "expires_at": nil, "overlap_s": 3600, "big": uint64(1<<64 - 1),
	})
	want := `{"big":18446744073709551615,"name":"recorder","overlap_s":3600,"scopes":"actions:read","sources":["stripe"]}`
	if string(e.Metadata) != want || e.Actor != "ada@example.com" || e.At != 7 || e.Event != "key.created" || e.Object != "4fT9xK2b" {
		t.Errorf("got %s\nof %+v\nwant %s", e.Metadata, e, want)
	}
}

func TestALongTextIsKeptAsItsHashAndLength(t *testing.T) {
	t.Parallel()
	fits, long := strings.Repeat("word ", 204)+"four", strings.Repeat("word ", 205) // 1,024 and 1,025 bytes
	sum := sha256.Sum256([]byte(long))
	got := string(audit.Clean(audit.Metadata{"a": fits, "b": []any{long}}))
	want := fmt.Sprintf(`{"a":%q,"b":[{"bytes":1025,"sha256":%q}]}`, fits, hex.EncodeToString(sum[:]))
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestNoSecretGetsIntoARow(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"password": "correct horse", "api_key": "abc", "authorization": "Bearer abcdefgh12345678",
		"note": "it is spk_4fT9xK2bvL0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh", "nested": map[string]any{"client_secret": "hush-hush"},
	} {
		got := string(audit.Clean(audit.Metadata{name: v}))
		for _, secret := range []string{"correct horse", `"abc"`, "abcdefgh12345678", "spk_4fT9xK2bvL", "hush-hush"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

func TestWhatIsNotSecretStays(t *testing.T) {
	t.Parallel()
	want := `{"contract_id":"refund_workflow","digest":"sha256:3573a84c5eaa25a04b047079c35a7ceff2c3511dec845a9a9485781cd3115eed","email":"ada@example.com","prefix":"4fT9xK2b","role":"admin","version":3}`
	got := string(audit.Clean(audit.Metadata{
		"contract_id": "refund_workflow", "version": 3, "digest": "sha256:3573a84c5eaa25a04b047079c35a7ceff2c3511dec845a9a9485781cd3115eed",
		"email": "ada@example.com", "prefix": "4fT9xK2b", "role": "admin",
	}))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASegmentIsTheHashThatIsDocumented(t *testing.T) {
	t.Parallel()
	s := audit.NewSegment()
	s.Add(&store.AuditEntry{ID: 12, At: 5, Actor: "b", Event: "e2", Object: "", Metadata: []byte("{}")})
	s.Add(&store.AuditEntry{ID: 3, At: 4, Actor: "a", Event: "e1", Object: "o:1", Metadata: []byte(`{"x":1}`)})
	sum := sha256.Sum256([]byte("deed audit 1\n" + "2:121:51:b2:e20:2:{}\n" + "1:31:41:a2:e13:o:17:{\"x\":1}\n" + "sha256:before"))
	if got, want := s.Digest("sha256:before"), "sha256:"+hex.EncodeToString(sum[:]); got != want || s.Rows() != 2 {
		t.Errorf("got %s over %d rows, want %s", got, s.Rows(), want)
	}
}

// Moving a border between two fields, changing one, leaving a row out or turning
// the order around shows.
func TestNoChangeOfRowsKeepsTheDigest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Custom(func(t *rapid.T) store.AuditEntry {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("a1:\n")), 0, 4, -1)
			return store.AuditEntry{ID: rapid.Int64Range(0, 20).Draw(t, "id"), Event: text.Draw(t, "event"), Object: text.Draw(t, "object")}
		})
		one, other := rapid.SliceOfN(row, 0, 3).Draw(t, "one"), rapid.SliceOfN(row, 0, 3).Draw(t, "other")
		digest := func(rows []store.AuditEntry) string {
			s := audit.NewSegment()
			for i := range rows {
				s.Add(&rows[i])
			}
			return s.Digest("")
		}
		if same := fmt.Sprint(one) == fmt.Sprint(other); (digest(one) == digest(other)) != same {
			t.Fatalf("%v and %v: %v", one, other, same)
		}
	})
}
