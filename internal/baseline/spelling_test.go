package baseline

import (
	"strings"
	"testing"
)

func TestThePackageIsReadFromTheCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npx -y @scope/name@1.2":                     "npm:@scope/name",
		"npx @scope/name":                            "npm:@scope/name",
		"npx --yes time-mcp@latest --flag":           "npm:time-mcp",
		"npx -y -- name":                             "npm:name",
		"npx --prefix dir name":                      "npm:name",
		"npx -p @scope/name@2 program":               "npm:@scope/name",
		"npx --package=@scope/name program":          "npm:@scope/name",
		"npx --package @scope/name -- program":       "npm:@scope/name",
		"/usr/local/bin/npx name":                    "npm:name",
		`C:\node\NPX.CMD -y name`:                    "npm:name",
		"cmd /c npx -y name":                         "npm:name",
		"bunx name":                                  "npm:name",
		"pnpm dlx name@3":                            "npm:name",
		"npm exec -- name":                           "npm:name",
		"yarn dlx name":                              "npm:name",
		"bun x name":                                 "npm:name",
		"uvx mcp-server-git":                         "pypi:mcp-server-git",
		"uvx -p 3.12 mcp_server_git==1.0":            "pypi:mcp-server-git",
		"uvx --from mcp-server[cli]>=2 program":      "pypi:mcp-server",
		"uv tool run name@1":                         "pypi:name",
		"pipx run name":                              "pypi:name",
		"node /x/node_modules/@scope/name/dist/a.js": "npm:@scope/name",
		"node --no-warnings node_modules/name/a.js":  "npm:name",
		`node.exe C:\x\node_modules\name\a.js`:       "npm:name",
		"node a/node_modules/b/node_modules/c/i.js":  "npm:c",
		"node server.js node_modules/name/x":         "",
		"npx":                                        "",
		"npx ./folder":                               "",
		"npx github:owner/name":                      "",
		"npx https://example.invalid/x.tgz":          "",
		"npx @scope":                                 "",
		"npx -c program":                             "",
		"npm run start":                              "",
		"pnpm start":                                 "",
		"uv run server.py":                           "",
		"deed demo-server":                           "",
		"python -m name":                             "",
		"":                                           "",
		"node":                                       "",
		"npx " + strings.Repeat("x", 300):            "",
		"npx na\u043Ce":                              "",
		"npx -y @scope/name/deeper":                  "",
		"node /x/node_modules/@scope":                "",
	} {
		if got := FromCommand(strings.Fields(command)); got != want {
			t.Errorf("%q is %q, want %q", command, got, want)
		}
	}
}

func TestALabelIsAPackageOnlyWhenTheCensusHasIt(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"@scope/notes": "npm:@scope/notes",
		"clock":        "npm:clock",
		"shop":         "",
		"":             "",
	} {
		if got := small().FromLabel(label); got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
}

func FuzzACommandOfAnySortHasAPackageOrNone(f *testing.F) {
	for _, seed := range []string{"npx -y @scope/name@1", "uvx --from a b", "cmd /c npx -p", "node node_modules/@", "npm exec", "-p -p"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		got := FromCommand(strings.Split(command, " "))
		registry, name, _ := strings.Cut(got, ":")
		if got != "" && (registry != "npm" && registry != "pypi" || !isPackage(name)) {
			t.Errorf("%q gives %q", command, got)
		}
	})
}
