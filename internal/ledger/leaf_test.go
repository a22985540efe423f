package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

func instant(t testing.TB, text string) value.Instant {
	t.Helper()
	at, err := value.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// The page's examples are what the code hashes, byte for byte.
func TestThePageShowsWhatIsHashed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d examples", len(blocks))
	}
	l := store.Leaf{
		Kind: VerdictKind, Object: "act_01kb3fz8s0q7m2x5v9c4e6t8wr/1", At: instant(t, "2026-11-05T12:00:00Z"),
		Digest: "sha256:ee5717c7f6bf4332d32d6e3cb498e56847793b9addf9ede9afdabdb9dde22195", Number: 12, ID: 99,
	}
	if got := string(Text(&l)); got != blocks[0][1] {
		t.Errorf("a leaf is\n%s\nthe page has\n%s", got, blocks[0][1])
	}
	sum := sha256.Sum256(append([]byte{0}, blocks[0][1]...))
	if !strings.Contains(string(page), "`"+hex.EncodeToString(sum[:])+"`") || Hash(&l) != tlog.Hash(sum) {
		t.Errorf("the page does not have the leaf's hash %x, or the code has another: %s", sum, Hash(&l))
	}
	v := &store.ContractVersion{
		ContractID: "refund_workflow", Version: 3, Digest: "sha256:3573a84c5eaa25a04b047079c35a7ceff2c3511dec845a9a9485781cd3115eed",
		Mode: verdict.Live, From: instant(t, "2026-11-01T09:00:00Z"), Until: instant(t, "2026-12-01T09:00:00Z"),
	}
	for i, made := range []store.Leaf{Activation(v), Retirement(v)} {
		of := sha256.Sum256([]byte(blocks[i+1][1]))
		if made.Digest != "sha256:"+hex.EncodeToString(of[:]) || made.Object != "refund_workflow@3" {
			t.Errorf("%s: %+v is not the digest of the page's example", made.Kind, made)
		}
	}
}

func TestADeclarationsLeafIsOverItsBodyByteForByte(t *testing.T) {
	t.Parallel()
	body := []byte(`{ "params": {"amount": 180.00} }`)
	d := &store.Declared{Ref: "act_1", Revision: 2, Body: body, Declaration: verdict.Declaration{ReceivedAt: 5}}
	sum := sha256.Sum256(body)
	want := store.Leaf{Kind: "declaration", Object: "act_1/2", Digest: "sha256:" + hex.EncodeToString(sum[:]), At: 5, Number: -1}
	if got := Declaration(d); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A number and an id are where a leaf is kept, and no part of it; all else is.
func TestTwoLeavesHashAlikeOnlyIfTheySayTheSame(t *testing.T) {
	t.Parallel()
	drawn := rapid.Custom(func(t *rapid.T) store.Leaf {
		text := rapid.SampledFrom([]string{"", "a", `a"`, `a","kind":"b`, "ä", "\\", "\n"})
		return store.Leaf{
			Kind: text.Draw(t, "kind"), Object: text.Draw(t, "object"), Digest: text.Draw(t, "digest"),
			At: value.Instant(rapid.Int64Range(1, 3).Draw(t, "at")), Number: rapid.Int64Range(-1, 2).Draw(t, "number"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		same := a.Kind == b.Kind && a.Object == b.Object && a.Digest == b.Digest && a.At == b.At
		if (Hash(&a) == Hash(&b)) != same {
			t.Fatalf("%+v and %+v hash alike: %v", a, b, !same)
		}
	})
}

func TestTheNameOfASegmentIsReadBack(t *testing.T) {
	t.Parallel()
	for object, good := range map[string]bool{
		"rows/1-57/46": true, "rows/1-57": false, "rows/a-b/c": false, "rows/1-57/46 ": false, "rows/01-57/46": false, "": false,
	} {
		s, err := parseSpan(object)
		if (err == nil) != good || good && s != (span{first: 1, last: 57, rows: 46}) {
			t.Errorf("%q is read as %+v, %v", object, s, err)
		}
	}
}
