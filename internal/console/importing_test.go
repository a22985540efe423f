package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/remote"
)

// keeper is a server that keeps facts by their id, and fails when told to.
type keeper struct {
	kept   map[string]int // how often each was sent and taken
	refuse func(request int, ids []string) (status int, body string)
	asked  int
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Facts []struct {
			ID string `json:"external_id"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	k.asked++
	var ids []string
	for _, f := range body.Facts {
		ids = append(ids, f.ID)
	}
	if k.refuse != nil {
		if status, text := k.refuse(k.asked, ids); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
			return
		}
	}
	sum := Imported{}
	for _, id := range ids {
		if k.kept[id]++; k.kept[id] == 1 {
			sum.New++
		} else {
			sum.Known++
		}
	}
	_ = json.NewEncoder(w).Encode(sum)
}

func importer(t *testing.T, k *keeper) (*Import, string) {
	t.Helper()
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	conn, err := remote.Open(server.URL, "key", remote.Options{Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(t.TempDir(), "facts.jsonl.progress")
	return &Import{Conn: conn, Part: 10, Note: note}, note
}

func facts(n int, prefix string) func() (*FactFile, error) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"external_id\":\"%s%d\"}\n", prefix, i)
	}
	return func() (*FactFile, error) { return JSONLines("facts.jsonl", strings.NewReader(b.String())), nil }
}

func TestAnImportThatWasStoppedGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	k := &keeper{kept: map[string]int{}, refuse: func(n int, _ []string) (int, string) {
		if n == 4 {
			return 403, `{"error":{"code":"forbidden","message":"no"}}`
		}
		return 0, ""
	}}
	im, note := importer(t, k)
	sum, err := im.Run(t.Context(), facts(95, "f"))
	if err == nil || sum != (Imported{New: 30}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	sum, err = im.Run(t.Context(), facts(95, "f"))
	if err != nil || sum != (Imported{Skipped: 30, New: 65}) {
		t.Errorf("the second run: %+v, %v", sum, err)
	}
	for id, times := range k.kept {
		if times != 1 {
			t.Errorf("%s was sent %d times", id, times)
		}
	}
	if _, err := os.Stat(note); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note is still there after the import: %v", err)
	}
}

func TestANoteOfAnotherFileSkipsNothing(t *testing.T) {
	t.Parallel()
	k := &keeper{kept: map[string]int{}}
	im, note := importer(t, k)
	for name, text := range map[string]string{
		"another file":   fmt.Sprintf(`{"server":%q,"facts":20,"digest":"00"}`, im.Conn.Address()),
		"a longer file":  fmt.Sprintf(`{"server":%q,"facts":2000,"digest":"00"}`, im.Conn.Address()),
		"another server": `{"server":"https://elsewhere.example","facts":20,"digest":"00"}`,
		"no note":        `{`,
	} {
		if err := os.WriteFile(note, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if sum, err := im.Run(t.Context(), facts(25, name)); err != nil || sum != (Imported{New: 25}) {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
	}
}

func TestALineThatTheServerRefusesIsToldByItsNumber(t *testing.T) {
	t.Parallel()
	k := &keeper{kept: map[string]int{}, refuse: func(_ int, ids []string) (int, string) {
		if at := slices.Index(ids, "f13"); at >= 0 {
			return 400, fmt.Sprintf(`{"error":{"code":"invalid_request","message":"1 fact","errors":[{"index":%d,"field":"type","message":"is missing"}]}}`, at)
		}
		return 0, ""
	}}
	im, _ := importer(t, k)
	sum, err := im.Run(t.Context(), facts(20, "f"))
	if err == nil || err.Error() != "facts.jsonl:14: type: is missing" || sum.New != 13 || len(k.kept) != 13 {
		t.Errorf("%+v, %v, %d kept; 13 lines stand before it", sum, err, len(k.kept))
	}
}

func TestWhatWasSentToAnotherWorkspaceIsSentAgain(t *testing.T) {
	t.Parallel()
	down := false
	k := &keeper{kept: map[string]int{}, refuse: func(_ int, ids []string) (int, string) {
		if down && ids[0] == "f10" {
			return 403, `{"error":{"code":"forbidden","message":"no"}}`
		}
		return 0, ""
	}}
	im, _ := importer(t, k)
	im.Workspace = "ws_1"
	down = true
	if sum, err := im.Run(t.Context(), facts(20, "f")); err == nil || sum.New != 10 {
		t.Fatalf("%+v, %v", sum, err)
	}
	down = false
	im.Workspace = "ws_2"
	if sum, err := im.Run(t.Context(), facts(20, "f")); err != nil || sum != (Imported{New: 10, Known: 10}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestWhatStandsBeforeABadLineIsKept(t *testing.T) {
	t.Parallel()
	k := &keeper{kept: map[string]int{}}
	im, _ := importer(t, k)
	sum, err := im.Run(context.Background(), func() (*FactFile, error) {
		return JSONLines("facts.jsonl", strings.NewReader("{\"external_id\":\"a\"}\nnot json\n{\"external_id\":\"b\"}\n")), nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "facts.jsonl:2: ") || sum.New != 1 || k.kept["b"] != 0 {
		t.Errorf("%+v, %v, %v", sum, err, k.kept)
	}
}
