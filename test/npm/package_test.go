package npmtest

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These tests read the two files that say what npm ci installs, and so run
// where nothing is installed as well.

func TestEveryPackageIsPinnedToOneVersion(t *testing.T) {
	t.Parallel()
	exact := regexp.MustCompile(`^(npm:@modelcontextprotocol/sdk@)?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	pinned := dependencies(t)
	for name, version := range pinned {
		if !exact.MatchString(version) {
			t.Errorf("%s is asked for as %q, want one exact version", name, version)
		}
	}
	used := map[string]bool{}
	for _, name := range sdks {
		used[name] = true
	}
	for _, s := range servers() {
		used[s.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if _, ok := pinned[name]; !ok {
			t.Errorf("%s is tested and is not in package.json", name)
		}
	}
	for name := range pinned {
		if !used[name] {
			t.Errorf("%s is in package.json and no test uses it", name)
		}
	}
}

func TestEnoughServersAreTested(t *testing.T) {
	t.Parallel()
	packages := map[string]bool{}
	for _, s := range servers() {
		packages[s.name] = true
	}
	if len(packages) < 15 {
		t.Errorf("%d packages are tested, want at least 15", len(packages))
	}
}

func TestTheLockFileIsFitForEveryMachine(t *testing.T) {
	t.Parallel()
	var lock struct {
		Packages map[string]struct {
			Version, Resolved, Integrity string
			Dependencies                 map[string]string
			Link, InBundle               bool
		}
	}
	readJSON(t, "package-lock.json", &lock)
	for path, p := range lock.Packages {
		if path == "" {
			if !maps.Equal(p.Dependencies, dependencies(t)) {
				t.Error("package-lock.json was made for another package.json; run npm install in test/npm")
			}
			continue
		}
		if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
			t.Errorf("%s comes from %s, want npm's own registry", path, p.Resolved)
		}
		if p.Integrity == "" && !p.InBundle {
			t.Errorf("%s has no hash", path)
		}
	}
	if len(lock.Packages) < 100 {
		t.Errorf("the lock file has %d packages, which cannot be all", len(lock.Packages))
	}
}

func dependencies(t *testing.T) map[string]string {
	t.Helper()
	var file struct{ Dependencies map[string]string }
	readJSON(t, "package.json", &file)
	if len(file.Dependencies) == 0 {
		t.Fatal("package.json has no dependencies")
	}
	return file.Dependencies
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
