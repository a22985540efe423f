package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/likeness"
	"github.com/deed-dev/deed/internal/money"
)

// Bounds of scalars.
const (
	maxText  = 2_000 // characters
	maxName  = 64
	maxCount = 1_000_000
	day      = 24 * time.Hour
	longest  = 5 * 365 * day
)

// text reads a key's text, and is empty if the key is not there or is none.
func (f fields) text(name string) string {
	n := f.get(name)
	if n == nil {
		return ""
	}
	s, _ := f.plain(n, f.at(name))
	return s
}

// plain reads a node as a text. What YAML takes for something else must be in
// quotes, so that 010, 1e3 and true mean what they look like.
func (r *reader) plain(n *node, path string) (string, bool) {
	switch {
	case n.kind == number || n.kind == boolean:
		r.problem(n, path, fmt.Sprintf("put it in quotes: %q", n.text), "here stands %s instead of a text", n.is())
	case n.kind != text:
		r.problem(n, path, "write a text, or leave the key out", "here stands %s instead of a text", n.is())
	case strings.TrimSpace(n.text) == "":
		r.problem(n, path, "write something, or leave the key out", "the text is empty")
	case utf8.RuneCountInString(n.text) > maxText && n.kind == text:
		r.problem(n, path, "", "the text is longer than %d characters", maxText)
	default:
		return n.text, true
	}
	return "", false
}

// texts reads a key's list of texts; single says that one alone may stand
// without brackets.
func (f fields) texts(name string, single bool) []*node {
	var list []*node
	for i, n := range f.list(f.get(name), f.at(name), single) {
		path := fmt.Sprintf("%s[%d]", f.at(name), i)
		if _, ok := f.plain(n, path); !ok {
			continue
		}
		if slices.ContainsFunc(list, func(o *node) bool { return o.text == n.text }) {
			f.problem(n, path, "keep one of them", "%s stands here twice", clip(n.text))
			continue
		}
		list = append(list, n)
	}
	return list
}

// id reads a key's name.
func (f fields) id(name string) string {
	n := f.get(name)
	if n == nil {
		return ""
	}
	s, ok := f.plain(n, f.at(name))
	if ok && !f.form(n, f.at(name), isName, "a name has up to 64 letters, digits, _ and -, and begins with a letter") {
		return ""
	}
	return s
}

// form checks how a text is written.
func (r *reader) form(n *node, path string, well func(string) bool, hint string) bool {
	if well(n.text) {
		return true
	}
	r.problem(n, path, hint, "%q is not a name", clip(n.text))
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isName reports the form of ids: letters, digits, _ and -, a letter first.
func isName(s string) bool { return formed(s, "_-") && isLetter(s[0]) }

// isContractID allows dots as well, for ids with a namespace.
func isContractID(s string) bool { return formed(s, "_-.") && isLetter(s[0]) }

// isIdentifier reports a name that can stand in a condition.
func isIdentifier(s string) bool { return formed(s, "_") && !isDigit(s[0]) }

// isFactType reports names joined by dots, the family first.
func isFactType(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !formed(part, "_-") {
			return false
		}
	}
	return len(s) <= 2*maxName
}

func formed(s, besides string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte(besides, c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// word reads one of several words.
func (f fields) word(name string) string {
	n := f.get(name)
	if n == nil {
		return ""
	}
	s, ok := f.plain(n, f.at(name))
	if !ok {
		return ""
	}
	words := f.words(name)
	if slices.Contains(words, s) {
		return s
	}
	hint := "write " + oneOf(words)
	if near := likeness.Closest(s, words); near != "" {
		hint = "did you mean " + near + "?"
	}
	f.problem(n, f.at(name), hint, "%s is not %s", clip(s), oneOf(words))
	return ""
}

// words are those of the key, wherever it stands; a key has the same in every
// mapping of the table that the mapping's path belongs to.
func (f fields) words(name string) []string {
	for _, key := range keys {
		if key.Name == name && key.Kind == WordKind && strings.HasPrefix(f.path, key.In) {
			return key.Words
		}
	}
	return nil
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func (f fields) trust(name string) evidence.Trust {
	trust, _ := evidence.ParseTrust(cmpOr(f.word(name), " "))
	return trust
}

// flag reads true or false, and is otherwise where the key is left out.
func (f fields) flag(name string, otherwise bool) bool {
	n := f.get(name)
	switch {
	case n == nil:
		return otherwise
	case n.kind == boolean && (n.text == "true" || n.text == "false"):
		return n.text == "true"
	}
	f.problem(n, f.at(name), "write true or false, without quotes", "%s is neither true nor false", clip(n.text))
	return otherwise
}

// integer reads a whole number of at least least, and 0 if there is none.
func (f fields) integer(name string, least int) int {
	n := f.get(name)
	if n == nil {
		return 0
	}
	return f.whole(n, f.at(name), least)
}

func (r *reader) whole(n *node, path string, least int) int {
	if n.kind != number || !wholeForm(n.text) {
		r.problem(n, path, "write digits only, as in 1 or 20", "%s is no whole number", cmpOr(clip(n.text), n.is()))
		return 0
	}
	value, err := strconv.Atoi(n.text)
	switch {
	case err != nil || value > maxCount:
		r.problem(n, path, "", "%s is more than %d", clip(n.text), maxCount)
		return 0
	case value < least:
		r.problem(n, path, fmt.Sprintf("write at least %d", least), "%d is too little", value)
		return 0
	}
	return value
}

// wholeForm reports plain digits without a leading zero, which some readers of
// YAML take for octal.
func wholeForm(s string) bool {
	if s == "0" {
		return true
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != "" && s[0] != '0'
}

// duration reads a time span between least and five years.
func (f fields) duration(name string, least, otherwise time.Duration) time.Duration {
	n := f.get(name)
	if n == nil {
		return otherwise
	}
	const hint = "write it as in 30s, 5m, 48h, 30d, 1w or 1d12h"
	if n.kind == number {
		f.problem(n, f.at(name), "name the unit: "+n.text+"s, "+n.text+"m, "+n.text+"h or "+n.text+"d", "%s names no unit", clip(n.text))
		return otherwise
	}
	s, ok := f.plain(n, f.at(name))
	if !ok {
		return otherwise
	}
	d, err := ParseDuration(s)
	switch {
	case err != nil:
		f.problem(n, f.at(name), hint, "%s is no time span", clip(s))
		return otherwise
	case d > longest:
		f.problem(n, f.at(name), "write at most 1825d", "%s is longer than five years", clip(s))
		return otherwise
	case d < least:
		f.problem(n, f.at(name), hint, "%s is too short", clip(s))
		return otherwise
	}
	return d
}

// money reads an amount.
func (r *reader) money(n *node, path string) money.Amount {
	if n.kind == number {
		r.problem(n, path, `name its currency, as in "2000.00 USD"`, "%s names no currency", clip(n.text))
		return money.Amount{}
	}
	s, ok := r.plain(n, path)
	if !ok {
		return money.Amount{}
	}
	amount, err := money.ParseLiteral(s)
	if err != nil {
		r.problem(n, path, `write it as in "2000.00 USD"`, "%s is no amount", clip(s))
		return money.Amount{}
	}
	r.currencyKnown(n, path, amount.Currency)
	return amount
}

// currencyKnown warns of a code that may be misspelled.
func (r *reader) currencyKnown(n *node, path string, code money.Currency) {
	if code != "" && !money.Listed(code) {
		r.warn(n, path, "if it is a coin, all is well", "%s is not a currency of ISO 4217", code)
	}
}
