package baseline

import (
	"slices"
	"strings"
)

// runner is a program that runs a package which its command line names.
type runner struct {
	registry string
	verb     string // the subcommand that does so; empty where there is none
}

// runnersNamed is a function so that nothing is built before it is used.
func runnersNamed(program string) []runner {
	switch program {
	case "npx", "bunx", "pnpx":
		return []runner{{"npm", ""}}
	case "npm":
		return []runner{{"npm", "exec"}, {"npm", "x"}}
	case "pnpm", "yarn":
		return []runner{{"npm", "dlx"}}
	case "bun":
		return []runner{{"npm", "x"}}
	case "uvx":
		return []runner{{"pypi", ""}}
	case "pipx":
		return []runner{{"pypi", "run"}}
	}
	return nil
}

// FromCommand names the package that a command runs: npm:@scope/name for
// npx -y @scope/name@1.2, pypi:name for uvx name, and npm:name for node with
// a script below node_modules/name. It is empty where the command does not
// say, as for a program of one's own.
func FromCommand(argv []string) string {
	// On Windows clients start npx through cmd /c.
	if len(argv) > 2 && program(argv[0]) == "cmd" && strings.EqualFold(argv[1], "/c") {
		argv = argv[2:]
	}
	if len(argv) == 0 {
		return ""
	}
	name := program(argv[0])
	if name == "uv" && len(argv) > 2 && argv[1] == "tool" && argv[2] == "run" {
		return packageAmong(argv[3:], "pypi")
	}
	for _, r := range runnersNamed(name) {
		switch {
		case r.verb == "":
			return packageAmong(argv[1:], r.registry)
		case len(argv) > 1 && argv[1] == r.verb:
			return packageAmong(argv[2:], r.registry)
		}
	}
	if name == "node" || name == "bun" || name == "deno" {
		return installed(argv[1:])
	}
	return ""
}

// FromLabel names the package of a session's label, which deed run takes from
// the command: the package without its registry. Only a package of the census
// is recognised, since a label may be any name.
func (c *Census) FromLabel(label string) string {
	if _, ok := c.server("npm:" + label); ok {
		return "npm:" + label
	}
	return ""
}

// packageAmong finds the first word that is no flag, or what a flag says the
// package is where it differs from the program to run.
func packageAmong(words []string, registry string) string {
	named := ""
	for i := 0; i < len(words); i++ {
		word := words[i]
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case word == "--":
			continue
		case !strings.HasPrefix(word, "-"):
			if named == "" {
				named = word
			}
			return spelled(named, registry)
		case slices.Contains([]string{"-p", "--package", "--from", "--spec"}, flag) && !(registry == "pypi" && flag == "-p"):
			if !joined && i+1 < len(words) {
				i++
				value = words[i]
			}
			// Further packages only come along.
			if named == "" {
				named = value
			}
		case !joined && takesValue(flag):
			i++
		}
	}
	return ""
}

// takesValue says that the next word belongs to the flag.
func takesValue(flag string) bool {
	return slices.Contains([]string{
		"-p", "-c", "--call", "--prefix", "--registry", "--cache", "--userconfig", "-w", "--workspace",
		"--python", "--with", "--index", "--index-url", "--default-index", "--directory",
	}, flag)
}

// spelled takes the version off and puts the registry in front. Anything that
// is no name of a registry, such as a path or an address, is no package.
func spelled(word, registry string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		word = word[:at]
	}
	if registry == "pypi" {
		if end := strings.IndexAny(word, "=<>~![;"); end >= 0 {
			word = word[:end]
		}
		word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	}
	if !isPackage(word) {
		return ""
	}
	return registry + ":" + word
}

// isPackage accepts name and @scope/name.
func isPackage(word string) bool {
	name := word
	if rest, scoped := strings.CutPrefix(word, "@"); scoped {
		scope, inner, found := strings.Cut(rest, "/")
		if !found || !isName(scope) {
			return false
		}
		name = inner
	}
	return isName(name)
}

func isName(word string) bool {
	if word == "" || len(word) > 214 || word[0] == '.' { // npm's own limit
		return false
	}
	for _, r := range word {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !plain && !strings.ContainsRune("-._~", r) {
			return false
		}
	}
	return true
}

// installed finds the package that a script belongs to, by its folder.
func installed(words []string) string {
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			continue
		}
		_, inside, found := cutLast(strings.ReplaceAll(word, `\`, "/"), "node_modules/")
		if !found {
			return ""
		}
		parts := strings.SplitN(inside, "/", 3)
		if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
			return spelled(parts[0]+"/"+parts[1], "npm")
		}
		return spelled(parts[0], "npm")
	}
	return ""
}

func cutLast(text, sep string) (before, after string, found bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

// program is the name of a program without folder and ending, of either
// system.
func program(path string) string {
	_, name, found := cutLast(strings.ReplaceAll(path, `\`, "/"), "/")
	if !found {
		name = path
	}
	name = strings.ToLower(name)
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
