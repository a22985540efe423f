package archive_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/archive"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const noon = value.Instant(1_793_620_800_000_000)

// furnished is a store with a workspace that has a bit of everything, more facts
// than one page, and another workspace beside it.
func furnished(t *testing.T, facts int) (store.Store, access.WorkspaceID, []string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	accounts, err := account.New(s, func() value.Instant { return noon })
	if err != nil {
		t.Fatal(err)
	}
	mine, err := accounts.Bootstrap(t.Context(), "main", "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	other, err := accounts.CreateWorkspace(t.Context(), "other", "grace@example.com")
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{mine.Link.Reveal(), other.Link.Reveal()}
	for _, w := range []access.WorkspaceID{mine.Workspace.ID, other.Workspace.ID} {
		key, secret, err := access.MintKey(access.KeyOrder{ID: access.KeyID("key_" + w), Name: "agent", Scopes: access.ScopesOf(access.ActionsRecord)}, access.Workspace{ID: w}, rand.Reader, noon)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret.Reveal(), fmt.Sprintf("%x", key.Hash.Bytes()))
		err = s.Do(t.Context(), w, func(tx store.Tx) error {
			tx.PutKey(key)
			fill(tx, facts)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, mine.Workspace.ID, secrets
}

// fill gives a workspace a source, facts, an action and a settled verdict on it.
func fill(tx store.Tx, facts int) {
	source := store.SourceState{CreatedBy: "ada@example.com"}
	source.Name, source.Trust = "stripe", evidence.Asserted
	tx.PutSource(source)
	var all []store.Fact
	for n := range facts {
		f := evidence.Fact{Source: "stripe", ExternalID: fmt.Sprint("re_", n), Type: "refund.succeeded", OccurredAt: noon, IngestedAt: noon}
		all = append(all, store.Fact{Fact: f, Body: []byte(`{"n":1}`), By: "apikey:x"})
	}
	_, _ = tx.AddFacts(all)
	ref := store.Ref("act_00000000000000000000000001")
	d := verdict.Declaration{ActionID: "refund-1", ContractID: "none", ReceivedAt: noon}
	declared := store.Declared{Ref: ref, Revision: 1, Declaration: d, Body: []byte(`{"action_id":"refund-1","odd":[1.50]}`), By: "apikey:x"}
	tx.AddAction(&store.Action{Declared: declared, Mode: verdict.Live, Revisions: 1}, nil, nil)
	c := &verdict.Case{Engine: verdict.Engine, At: noon, Declarations: []verdict.Declaration{d}}
	v, err := engine.Evaluate(c)
	if err != nil {
		panic(err)
	}
	tx.KeepVerdict(ref, &v, c, nil)
	tx.AddLeaf(ledger.Declaration(&declared), ledger.Verdict(ref, &v))
}

func TestAnExportHasEverythingOfOneWorkspaceAndNoSecret(t *testing.T) {
	t.Parallel()
	const facts = 450 // three pages
	s, w, secrets := furnished(t, facts)
	var out bytes.Buffer
	count, err := archive.Export(t.Context(), s, w, "1.2.0", &out)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int64{}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		var one struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		kinds[one.Kind]++
	}
	want := archive.Count{Members: 1, Keys: 1, Sources: 1, Actions: 1, Declarations: 1, Verdicts: 1, Facts: facts, Audit: count.Audit}
	if count != want || count.Audit == 0 {
		t.Errorf("it counts %+v, want %+v", count, want)
	}
	for kind, n := range map[string]int64{"export": 1, "member": 1, "key": 1, "source": 1, "action": 1, "declaration": 1, "verdict": 1, "fact": facts, "audit": count.Audit, "end": 1} {
		if kinds[kind] != n {
			t.Errorf("there are %d lines of kind %s, want %d", kinds[kind], kind, n)
		}
	}
	if !strings.HasPrefix(lines[0], `{"kind":"export"`) || !strings.HasPrefix(lines[len(lines)-1], `{"kind":"end"`) {
		t.Errorf("it begins with %s and ends with %s", lines[0], lines[len(lines)-1])
	}
	for i, secret := range secrets {
		if strings.Contains(out.String(), secret) {
			t.Errorf("secret %d is in it", i)
		}
	}
	if strings.Contains(out.String(), "grace@example.com") {
		t.Error("another workspace's member is in it")
	}
	if !strings.Contains(out.String(), `"body":{"action_id":"refund-1","odd":[1.50]}`) {
		t.Error("the declaration is not there as it was sent")
	}
}

func TestAnExportedVerdictIsMadeAgainFromItsCase(t *testing.T) {
	t.Parallel()
	s, w, _ := furnished(t, 1)
	var out bytes.Buffer
	if _, err := archive.Export(t.Context(), s, w, "1.2.0", &out); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.SplitSeq(out.String(), "\n") {
		var one struct {
			Kind          string
			Verdict, Case json.RawMessage
		}
		if line == "" || json.Unmarshal([]byte(line), &one) != nil || one.Kind != "verdict" {
			continue
		}
		seen++
		c, err := verdict.DecodeCase(one.Case)
		if err != nil {
			t.Fatal(err)
		}
		v, err := engine.Evaluate(c)
		if err != nil {
			t.Fatal(err)
		}
		if again := string(v.AppendJSON(nil)); again != string(one.Verdict) {
			t.Errorf("made again it is %s, and was %s", again, one.Verdict)
		}
	}
	if seen != 1 {
		t.Errorf("there are %d settled verdicts", seen)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

func TestAnExportThatCannotBeWrittenFails(t *testing.T) {
	t.Parallel()
	s, w, _ := furnished(t, 1)
	if _, err := archive.Export(t.Context(), s, w, "1.2.0", full{}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
}
