package redact

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Ends says which ends of a text are missing.
type Ends uint8

// The ends that a text can have lost.
const (
	CutHead Ends = 1 << iota // it begins in the middle
	CutTail                  // it ends in the middle
)

// searches holds what was allocated for earlier texts. Nothing in it means
// anything to the next one.
var searches = sync.Pool{New: func() any { return &search{names: new(names)} }}

// mostKept is how much memory a search may take back to the pool.
const mostKept = 1 << 20

// mostRounds is how often a text is searched again because something in it was
// replaced: what is left may read differently without it. Two rounds are the
// rule, and the second finds nothing.
const mostRounds = 8

func withSearch(ends Ends, raw []byte, look func(*search, []byte)) ([]byte, Report) {
	s := searches.Get().(*search)
	out := raw
	var report Report
	for range mostRounds {
		s.hits = s.hits[:0]
		s.cutHead, s.cutTail = ends&CutHead != 0, ends&CutTail != 0
		s.noEntropy, s.level, s.lexing = false, 0, 0
		look(s, out)
		replaced, found := s.replace(out)
		if found == nil {
			break
		}
		out, report = replaced, report.Merge(found)
	}
	kept := cap(s.hits)
	for i := range s.buffers {
		clear(s.buffers[i]) // what was decoded may be a secret
		kept += cap(s.buffers[i])
	}
	if kept <= mostKept {
		searches.Put(s)
	}
	return out, report
}

// Value replaces the secrets in one JSON value as it was written. What is not
// JSON is searched as text, so that noise, a cut message and a hostile one are
// served as well. Where nothing is found the result is raw itself, not a copy.
func Value(raw []byte) ([]byte, Report) {
	return withSearch(0, raw, (*search).value)
}

// value searches what came as JSON.
func (s *search) value(raw []byte) {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '"') {
		s.json(raw, false)
		return
	}
	s.text(raw)
}

// Fragment is [Value] for a piece of a JSON value or of a text. At an end that
// is missing, what could be half of a secret goes too.
func Fragment(raw []byte, missing Ends) ([]byte, Report) {
	return withSearch(missing, raw, func(s *search, raw []byte) {
		if missing&CutHead != 0 {
			// Inside or outside of a string: nobody knows, so it is both.
			s.text(raw)
			return
		}
		s.value(raw)
		if missing&CutTail != 0 {
			s.cutEnds(raw)
		}
	})
}

// Text replaces the secrets in a text: an error, a line of stderr, a label.
func Text(text string) (string, Report) {
	return textOf(text, 0)
}

func textOf(text string, missing Ends) (string, Report) {
	raw := []byte(text)
	out, report := withSearch(missing, raw, (*search).content)
	if report == nil {
		return text, nil
	}
	return string(out), report
}

// Preview replaces the secrets in raw and returns at most limit bytes of the
// result. It replaces first and cuts then, so that no cut hides a secret from
// the search, and it cuts between runes and never inside a placeholder.
func Preview(raw []byte, limit int, missing Ends) (string, Report) {
	out, report := Fragment(raw, missing)
	if len(out) <= limit {
		return string(out), report
	}
	return string(out[:cutPoint(out, max(limit, 0))]), report
}

func cutPoint(out []byte, limit int) int {
	at := limit
	if i := bytes.LastIndexByte(out[max(0, at-longestHolderLen):at], '<'); i >= 0 {
		i += max(0, at-longestHolderLen)
		if end := holderEnd(out, i); end > at {
			return i
		}
	}
	for at > 0 && limit-at < utf8.UTFMax && !utf8.RuneStart(out[at]) {
		at--
	}
	return at
}

// CommandLine replaces the secrets in the arguments of a command: values of
// telling flags, in one argument or two, and whatever [Text] finds.
func CommandLine(argv []string) ([]string, Report) {
	out := make([]string, len(argv))
	var report Report
	means := plainName
	program := ""
	for i, arg := range argv {
		given := means
		means = plainName
		if given != plainName && !strings.HasPrefix(arg, "-") {
			if keep, reason := flagValue(given, arg); reason != "" {
				out[i] = arg[:keep] + Placeholder(reason)
				report.add(reason)
				continue
			}
		}
		if password, ok := gluedPassword(program, arg); ok {
			out[i] = arg[:len(arg)-len(password)] + Placeholder(KeyName)
			report.add(KeyName)
			continue
		}
		if len(arg) > 1 && arg[0] == '-' && !strings.Contains(arg, "=") {
			means = flagMeans(program, arg)
		} else if base := arg[strings.LastIndexAny(arg, `/\`)+1:]; isPasswordProgram(base) {
			program = base
		}
		redacted, found := Text(arg)
		out[i] = redacted
		report = report.Merge(found)
	}
	return out, report
}

// userFlag marks a flag that takes user:password.
const userFlag = verdict(255)

func flagMeans(program, flag string) verdict {
	switch flag {
	case "-u", "--user", "--proxy-user":
		return userFlag
	case "-p":
		if program == "sshpass" {
			return secretName
		}
	case "-a":
		if program == "redis-cli" {
			return secretName
		}
	case "-P":
		if program == "sqlcmd" {
			return secretName
		}
	}
	switch means := judgeName([]byte(strings.TrimLeft(flag, "-"))); means {
	case secretName, tokenName, keyName, pathName, pinName, cardName, authName, cookieName, seedName:
		return means
	}
	return plainName
}

func flagValue(means verdict, arg string) (int, Reason) {
	if means == userFlag {
		if at := userPassword([]byte(arg)); at > 0 {
			return at, KeyName
		}
		return 0, ""
	}
	if arg == "" {
		return 0, ""
	}
	return judgeValue(means, []byte(arg), true)
}

// isPasswordProgram says whether a program takes passwords by short flags.
func isPasswordProgram(base string) bool {
	switch base {
	case "sshpass", "redis-cli", "sqlcmd", "mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump":
		return true
	}
	return false
}

// gluedPassword finds the password of mysql -pPASSWORD.
func gluedPassword(program, arg string) (string, bool) {
	if !strings.HasPrefix(program, "mysql") && !strings.HasPrefix(program, "mariadb") {
		return "", false
	}
	password, ok := strings.CutPrefix(arg, "-p")
	return password, ok && password != "" && !isHolder([]byte(password))
}

// Environ replaces the secrets in an environment, NAME=value each.
func Environ(environ []string) ([]string, Report) {
	out := make([]string, len(environ))
	var report Report
	for i, variable := range environ {
		name, value, ok := strings.Cut(variable, "=")
		if ok && value != "" {
			if keep, reason := judgeValue(judgeName([]byte(name)), []byte(value), true); reason != "" {
				out[i] = name + "=" + value[:keep] + Placeholder(reason)
				report.add(reason)
				continue
			}
		}
		redacted, found := Text(variable)
		out[i] = redacted
		report = report.Merge(found)
	}
	return out, report
}
