package house

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// trail is a way through the module's packages from one to an import.
type trail []string

func (t trail) String() string { return strings.Join(t, " -> ") }

// reach walks from one package over imports within the module and returns the
// shortest trail to each thing that is imported on the way.
func reach(packages map[string]goPackage, from string) map[string]trail {
	found := map[string]trail{}
	queue := []trail{{from}}
	visited := map[string]bool{from: true}
	for len(queue) > 0 {
		way := queue[0]
		queue = queue[1:]
		for _, name := range packages[way[len(way)-1]].imports() {
			inside, ours := strings.CutPrefix(name, module+"/")
			if ours {
				name = inside
			}
			if visited[name] {
				continue
			}
			visited[name] = true
			next := append(slices.Clone(way), name)
			found[name] = next
			if ours {
				queue = append(queue, next)
			}
		}
	}
	return found
}

// below says whether name is one of the trees' roots or lies under one.
func below(name string, trees ...string) bool {
	for _, tree := range trees {
		if name == tree || strings.HasPrefix(name, tree+"/") {
			return true
		}
	}
	return false
}

// external says whether name is from another module.
func external(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}

var (
	jsonPackages  = []string{"encoding/json", "github.com/go-json-experiment/json", "github.com/tidwall/gjson"}
	logPackages   = []string{"log"}
	sqlPackages   = []string{"database/sql", "modernc.org/sqlite", "github.com/jackc/pgx/v5"}
	httpPackages  = []string{"net/http"}
	sdkPackages   = []string{"github.com/modelcontextprotocol/go-sdk"}
	answers       = []string{"internal/report", "internal/terminal", "cmd"}
	demoPackages  = []string{"internal/demo", "internal/shop"}
	orchestra     = []string{"internal/stdio", "internal/observer"}
	tracePackages = []string{"go.opentelemetry.io", "internal/span"}

	// engine is what a verdict follows from: pure functions over values.
	engine = []string{
		"internal/money", "internal/value", "internal/condition", "internal/evidence",
		"internal/contract", "internal/verdict", "internal/docket", "internal/explanation", "internal/weakening",
	}
	stores         = []string{"internal/store/sqlstore", "internal/store/sqlite", "internal/store/postgres"}
	systemPackages = []string{"os", "net", "syscall", "golang.org/x/sys"}
)

// arrows say which way imports may point. A rule whose package is not there
// yet holds from the day it is; it is the packages that exist which are read.
var arrows = []struct {
	rule   string
	from   []string // these packages
	never  []string // never reach these, by any way through the module
	unless []string // packages below from that are left out
}{
	{
		rule:  "the wire knows no JSON, no log and no database",
		from:  []string{"internal/wire"},
		never: slices.Concat(jsonPackages, logPackages, sqlPackages, httpPackages, sdkPackages),
	},
	{
		rule:  "the byte path knows no journal, no report and no command",
		from:  []string{"internal/wire", "internal/tap", "internal/protocol", "internal/process", "internal/tlog"},
		never: slices.Concat([]string{"internal/journal"}, answers, demoPackages, orchestra),
	},
	{
		rule:  "the byte path knows no database and no HTTP",
		from:  []string{"internal/wire", "internal/tap", "internal/protocol", "internal/process", "internal/tlog"},
		never: slices.Concat(sqlPackages, httpPackages, sdkPackages),
	},
	{
		rule:  "the journal knows neither who fills it nor who prints it",
		from:  []string{"internal/journal"},
		never: slices.Concat(answers, demoPackages, orchestra, httpPackages, sdkPackages),
	},
	{
		rule:  "what an entry is, and how calls are summed, knows no file, no database and no log",
		from:  []string{"internal/journal/entry", "internal/journal/rollup"},
		never: slices.Concat(systemPackages, logPackages, sqlPackages, httpPackages, sdkPackages, []string{"internal/tlog"}),
	},
	{
		rule:  "an entry stands alone",
		from:  []string{"internal/journal/entry"},
		never: []string{"internal"},
	},
	{
		rule:  "what records knows nothing of what prints",
		from:  orchestra,
		never: slices.Concat([]string{"internal/report", "cmd"}, demoPackages, sdkPackages),
	},
	{
		rule:  "redaction and signals stand alone",
		from:  []string{"internal/redact", "internal/signal"},
		never: slices.Concat([]string{"internal/journal"}, answers, orchestra, demoPackages, sqlPackages, httpPackages),
	},
	{
		rule: "the domain knows no store, no HTTP and no SQL",
		from: []string{
			"internal/contract", "internal/verdict", "internal/evidence",
			"internal/reconcile", "internal/intent", "internal/access",
		},
		never: slices.Concat([]string{"internal/journal", "internal/store"}, answers, httpPackages, sqlPackages),
	},
	{
		rule: "what the verifier does knows no database, no HTTP and nobody who asks it",
		from: []string{
			"internal/action", "internal/intake", "internal/settlement", "internal/governance", "internal/account",
			"internal/ledger", "internal/audit",
		},
		never: slices.Concat(stores, httpPackages, sqlPackages, sdkPackages, answers, orchestra, demoPackages, []string{
			"internal/journal", "internal/api", "internal/view", "internal/server", "internal/console", "internal/remote",
		}),
	},
	{
		rule: "what a plan has knows no system, no store, no HTTP, and nobody who is on it",
		from: []string{"internal/plan"},
		never: slices.Concat(systemPackages, logPackages, httpPackages, sqlPackages, sdkPackages, answers, orchestra, demoPackages, []string{
			"internal/journal", "internal/store", "internal/account", "internal/action", "internal/api", "internal/server",
		}),
	},
	{
		rule:   "the seam of the stores knows none of them",
		from:   []string{"internal/store"},
		never:  slices.Concat(stores, httpPackages, sqlPackages, answers, orchestra, demoPackages, []string{"internal/journal"}),
		unless: slices.Concat(stores, []string{"internal/store/migration"}),
	},
	{
		rule:  "a store knows nobody who uses it",
		from:  stores,
		never: slices.Concat(answers, orchestra, demoPackages, sdkPackages, []string{"internal/journal", "internal/api", "internal/action", "internal/settlement", "internal/server"}),
	},
	{
		rule:  "the HTTP surface knows no database",
		from:  []string{"internal/api", "internal/view"},
		never: slices.Concat(stores, sqlPackages, orchestra, demoPackages, []string{"internal/journal", "cmd"}),
	},
	{
		rule:  "a program that declares brings no server with it",
		from:  []string{"client", "recorder", "internal/remote"},
		never: slices.Concat(stores, sqlPackages, orchestra, demoPackages, []string{"internal/journal", "internal/store", "internal/api", "internal/server", "cmd"}),
	},
	{
		rule: "access knows no system, no log, no HTTP, no SQL, and nobody whom it admits",
		from: []string{"internal/access"},
		never: slices.Concat(systemPackages, logPackages, httpPackages, sqlPackages, sdkPackages, answers, orchestra, demoPackages, []string{
			"internal/journal", "internal/store", "internal/api", "internal/assistant", "internal/oauth", "internal/web", "internal/verdict",
		}),
	},
	{
		rule:  "the engine knows no system, no log, no HTTP, no SQL, and nobody who asks it",
		from:  engine,
		never: slices.Concat(systemPackages, logPackages, httpPackages, sqlPackages, sdkPackages, []string{"internal/journal", "internal/store"}, answers, orchestra, demoPackages),
	},
	{
		rule:   "what a verdict is does not depend on how one is found",
		from:   []string{"internal/verdict"},
		never:  []string{"internal/verdict/engine"},
		unless: []string{"internal/verdict/engine"},
	},
	{
		rule: "the path of deed run knows nothing of contracts and verdicts",
		from: slices.Concat(orchestra, []string{
			"internal/wire", "internal/tap", "internal/protocol", "internal/process", "internal/tlog",
			"internal/journal", "internal/redact", "internal/signal",
		}),
		never: engine,
	},
	{
		rule:  "the MCP library is for our own servers and clients, never for the path of deed run",
		from:  []string{"internal"},
		never: sdkPackages,
		unless: []string{
			"internal/shop", "internal/demo", "internal/assistant",
		},
	},
	{
		rule:   "only the server's process is traced, and nothing that it is made of knows",
		from:   []string{"internal", "client", "recorder"},
		never:  tracePackages,
		unless: []string{"internal/server", "internal/span"},
	},
	{
		rule: "what traces knows nothing of what is traced",
		from: []string{"internal/span"},
		never: slices.Concat(stores, sqlPackages, orchestra, demoPackages, []string{
			"internal/access", "internal/api", "internal/job", "internal/journal", "internal/server", "internal/setting", "internal/settlement", "internal/store", "internal/view", "cmd",
		}),
	},
}

func TestArrowsPointOneWay(t *testing.T) {
	t.Parallel()
	packages := tree(t)
	for _, arrow := range arrows {
		t.Run(arrow.rule, func(t *testing.T) {
			t.Parallel()
			for _, dir := range slices.Sorted(maps.Keys(packages)) {
				if !below(dir, arrow.from...) || below(dir, arrow.unless...) {
					continue
				}
				for name, way := range reach(packages, dir) {
					if below(name, arrow.never...) {
						t.Errorf("%s", way)
					}
				}
			}
		})
	}
}

func TestTheWireImportsNothingFromOutsideButTheSystem(t *testing.T) {
	t.Parallel()
	for name, way := range reach(tree(t), "internal/wire") {
		if external(name) && !below(name, "golang.org/x/sys") {
			t.Errorf("%s", way)
		}
	}
}

func TestOnlyStoresSpeakSQL(t *testing.T) {
	t.Parallel()
	for dir, pkg := range tree(t) {
		if below(dir, "internal/journal", "internal/store/sqlstore", "internal/store/sqlite", "internal/store/postgres", "internal/store/migration", "internal/job", "test") {
			continue
		}
		for _, name := range pkg.imports() {
			if below(name, sqlPackages...) {
				t.Errorf("%s imports %s; ask the journal or a store instead", dir, name)
			}
		}
	}
}

func TestOnlySurfacesSpeakHTTP(t *testing.T) {
	t.Parallel()
	surfaces := []string{
		"client", "cmd", "internal/api", "internal/assistant", "internal/backoffice", "internal/connector", "internal/console", "internal/demo",
		"internal/oauth", "internal/outbox", "internal/proxy", "internal/remote", "internal/server", "internal/shop", "internal/span", "internal/web", "recorder", "test",
	}
	for dir, pkg := range tree(t) {
		if below(dir, surfaces...) {
			continue
		}
		for _, name := range pkg.imports() {
			if below(name, httpPackages...) {
				t.Errorf("%s imports %s", dir, name)
			}
		}
	}
}

// The rules above are only worth something if a breach is seen.
func TestReachFindsAnImportBehindAnother(t *testing.T) {
	t.Parallel()
	packages := tree(t)
	if !slices.ContainsFunc(slices.Collect(maps.Values(packages)), func(p goPackage) bool {
		return slices.Contains(p.imports(), module+"/internal/wire")
	}) {
		t.Fatal("no package imports internal/wire, so the walk proves nothing")
	}
	way, found := reach(packages, "cmd/deed")["internal/wire"]
	if !found {
		t.Fatal("cmd/deed does not reach internal/wire")
	}
	if len(way) < 3 {
		t.Fatalf("cmd/deed reaches internal/wire by %v; a longer way was expected", way)
	}
}
