package stdio

import (
	"path/filepath"
	"slices"
	"strings"
)

// runners are programs that run a package named on their command line; the
// package is what a person would call the server. The words after a runner are
// its subcommands that do so; none means that the package follows at once.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "pnpx": nil, "uvx": nil,
	"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "bun": {"x"},
	"pipx": {"run"}, "uv": {"run"}, "deno": {"run"},
	"node": nil, "python": nil, "python3": nil,
}

// valued are flags of those programs that take the next word as their value.
var valued = map[string]bool{
	"-p": true, "--package": true, "-c": true, "--call": true, "--from": true, "--with": true,
	"--python": true, "--directory": true, "--spec": true, "-r": true, "--require": true, "--import": true,
}

// isName says whether a word may be a package or script. Anything else could
// be a value that must not be stored, so the program's name has to do.
func isName(word string) bool {
	word = strings.TrimPrefix(strings.TrimLeft(word, "./"), "@")
	if word == "" || len(word) > 100 {
		return false
	}
	for i := range len(word) {
		c := word[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-' || c == '/'):
		default:
			return false
		}
	}
	return true
}

// Label names a server after its command: what a runner runs where it is one,
// else the program.
func Label(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	program := filepath.Base(argv[0])
	switch ext := filepath.Ext(program); strings.ToLower(ext) {
	case ".exe", ".cmd", ".bat":
		program = strings.TrimSuffix(program, ext)
	}
	verbs, isRunner := runners[strings.ToLower(program)]
	if !isRunner {
		return program
	}
	if name := packageName(argv[1:], verbs); name != "" {
		return name
	}
	return program
}

func packageName(words, verbs []string) string {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			continue
		case w == "-m" && i+1 < len(words):
			return clip(words[i+1])
		case valued[w]:
			i++
		case strings.HasPrefix(w, "-"):
			continue
		case len(verbs) > 0:
			if !slices.Contains(verbs, w) {
				return ""
			}
			verbs = nil
		default:
			return clip(w)
		}
	}
	return ""
}

// clip takes version, scope folder and file ending off a package or script.
func clip(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		word = word[:at]
	}
	if at := strings.Index(word, "=="); at > 0 {
		word = word[:at]
	}
	word = filepath.ToSlash(word)
	if !isName(word) {
		return ""
	}
	if strings.HasPrefix(word, "@") {
		return word
	}
	base := word[strings.LastIndexByte(word, '/')+1:]
	for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".py"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}
