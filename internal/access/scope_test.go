package access_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/access"
)

// The names are an interface: clients ask for them.
const everyScope = "actions:read actions:record facts:write contracts:read contracts:validate contracts:draft reconcile:read connectors:read usage:read"

func TestThereAreNineScopes(t *testing.T) {
	t.Parallel()
	if got := access.AllScopes().String(); got != everyScope {
		t.Errorf("got  %s\nwant %s", got, everyScope)
	}
	if n := len(access.AllScopes().List()); n != 9 {
		t.Errorf("%d scopes", n)
	}
}

func TestAPresetHoldsWhatItsNamePromises(t *testing.T) {
	t.Parallel()
	for preset, want := range map[access.Preset]string{
		access.RecorderPreset: "actions:read actions:record",
		access.EvidencePreset: "actions:read facts:write connectors:read",
		access.ReaderPreset:   "actions:read contracts:read contracts:validate contracts:draft reconcile:read connectors:read usage:read",
		access.FullPreset:     everyScope,
	} {
		got, err := preset.Scopes()
		if err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; want %s", preset, got, err, want)
		}
	}
	if _, err := access.Preset("admin").Scopes(); err == nil {
		t.Error("a preset that is none has scopes")
	}
	if n := len(access.Presets()); n != 4 {
		t.Errorf("%d presets are listed", n)
	}
}

func TestAViewerMayOnlyHoldScopesThatRead(t *testing.T) {
	t.Parallel()
	reading := "actions:read contracts:read reconcile:read connectors:read usage:read"
	for role, want := range map[access.Role]string{
		0: "", access.Viewer: reading, access.Analyst: everyScope, access.Admin: everyScope, access.Owner: everyScope, access.Owner + 1: "",
	} {
		if got := role.Scopes().String(); got != want {
			t.Errorf("%s holds %s, want %s", role, got, want)
		}
	}
	for _, s := range access.AllScopes().List() {
		if s.Reads() && s.Writes() {
			t.Errorf("%s reads and writes", s)
		}
	}
}

func TestNoRoleMayGrantAModelToWriteFacts(t *testing.T) {
	t.Parallel()
	for role := access.Viewer; role <= access.Owner; role++ {
		if role.Grantable().Has(access.FactsWrite) {
			t.Errorf("%s may", role)
		}
	}
	if want := "actions:read actions:record contracts:read contracts:validate contracts:draft reconcile:read connectors:read usage:read"; access.Analyst.Grantable().String() != want {
		t.Errorf("an analyst may grant %s", access.Analyst.Grantable())
	}
}

func TestASetOfScopesReadAgainIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := drawScopes(t, "set")
		again, err := access.ParseScopes(set.String())
		if err != nil || again != set {
			t.Fatalf("%s became %s, %v", set, again, err)
		}
	})
}

func TestAMisspeltScopeIsNotGrantedAsNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"actions:reed", "actions:read Actions:record", "all", "actions:read,facts:write", "actions:read\tusage:read"} {
		if got, err := access.ParseScopes(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	if got, err := access.ParseScopes("  usage:read  actions:read usage:read "); err != nil || got.String() != "actions:read usage:read" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestScopesAndRolesAreNamesInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(struct {
		Scopes []access.Scope
		Role   access.Role
	}{access.ScopesOf(access.UsageRead, access.ActionsRead).List(), access.Admin})
	if want := `{"Scopes":["actions:read","usage:read"],"Role":"admin"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	for name, target := range map[string]any{`"roost"`: new(access.Role), `"none"`: new(access.Role), `""`: new(access.Scope)} {
		if err := json.Unmarshal([]byte(name), target); err == nil {
			t.Errorf("%s is %v", name, target)
		}
	}
	for _, nothing := range []any{access.Scope(0), access.Scope(200), access.Role(0), access.Role(9)} {
		if text, err := json.Marshal(nothing); err == nil {
			t.Errorf("%#v is written as %s", nothing, text)
		}
	}
	if got := access.ScopesOf(0, 77, 255); !got.IsEmpty() {
		t.Errorf("scopes that are none make %s", got)
	}
}

func drawScopes(t *rapid.T, label string) access.Scopes {
	return access.ScopesOf(rapid.SliceOf(rapid.SampledFrom(access.AllScopes().List())).Draw(t, label)...)
}
