package fit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words cuts a name at everything that is no letter and no digit, and before a
// capital: orderId, order-id and ORDER_ID are the same.
func words(name string) []string {
	var all []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
			word = nil
		}
	}
	letters := []rune(name)
	for i, r := range letters {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(letters[i-1]) {
			end()
		}
		word = append(word, r)
	}
	end()
	return all
}

func hasWord(name string, list ...string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool { return slices.Contains(list, word) })
}

// isSecret says that a value should not leave the machine.
func isSecret(name string) bool {
	joined := strings.Join(words(name), "")
	for _, stem := range []string{"password", "passwd", "secret", "apikey", "accesskey", "privatekey", "credential", "bearer"} {
		if strings.Contains(joined, stem) {
			return true
		}
	}
	return hasWord(name, "token", "pin", "otp", "cvc", "cvv", "auth", "cookie", "jwt", "pwd")
}

// isContent says that a value may be a text of any length.
func isContent(name string) bool {
	return hasWord(name, "content", "contents", "body", "text", "html", "markdown", "message", "data", "code", "script", "prompt", "query", "sql", "base64", "blob", "payload", "description", "thought")
}

// isRetryKey says that a value is the same when a call is tried again, and
// another one for another call.
func isRetryKey(name string) bool {
	all := words(name)
	switch {
	case slices.Contains(all, "idempotency"):
		return true
	case len(all) < 2 || all[len(all)-1] != "id":
		return false
	}
	return all[0] == "client" && len(all) > 2 || all[len(all)-2] == "request"
}

// bestSubject is the argument that most looks like what is acted on.
func bestSubject(leaves []leaf) (leaf, bool) {
	best, most := leaf{}, 0
	for _, l := range leaves {
		if score := likeSubject(l); score > most {
			best, most = l, score
		}
	}
	return best, most > 0
}

func likeSubject(l leaf) int {
	all := words(l.name())
	if len(all) == 0 || isSecret(l.name()) || isRetryKey(l.name()) || isContent(l.name()) {
		return 0
	}
	score := 1
	switch last := all[len(all)-1]; {
	case last == "id" || last == "ids":
		score += 8
	case slices.Contains([]string{"path", "file", "uri", "url", "key", "number", "sku", "iban", "account", "email", "to", "recipient"}, last):
		score += 5
	case last == "name" || last == "title" || last == "slug":
		score += 4
	case !l.text:
		return 0 // an amount or a switch
	}
	if l.required {
		score += 4
	}
	if l.listed {
		score -= 2
	}
	if len(l.names) == 1 {
		score++
	}
	return max(score, 1)
}

// kindOf is what kind of thing an argument names: order of order_id, file of
// path, and of a plain id what the tool's name ends with.
func kindOf(argument, tool string) string {
	all := words(argument)
	if n := len(all); n > 1 && slices.Contains([]string{"id", "ids", "name", "path", "number", "key", "url", "uri"}, all[n-1]) {
		return strings.Join(all[:n-1], "_")
	}
	switch strings.Join(all, "") {
	case "path", "file":
		return "file"
	case "id", "ids", "name", "title", "key", "number", "slug":
		if noun := words(tool); len(noun) > 1 {
			return noun[len(noun)-1]
		}
		return "thing"
	}
	return strings.Join(all, "_")
}

// identifier makes a name of up to 64 letters, digits and underscores.
func identifier(name string) string {
	const most = 64
	var b strings.Builder
	for _, word := range words(name) {
		for _, r := range word {
			if r > unicode.MaxASCII {
				r = '_'
			}
			b.WriteRune(r)
		}
		b.WriteByte('_')
	}
	id := strings.Trim(b.String(), "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "tool_" + id
	}
	return strings.TrimRight(id[:min(len(id), most)], "_")
}

var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// scalar spells a text so that YAML reads it back as the same text.
func scalar(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return double(text)
	}
	if plainScalar.MatchString(text) {
		return text
	}
	return double(text)
}

// double spells a text in double quotes, with escapes for all that is not seen.
func double(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError || r <= ' ' && r != ' ' || !unicode.IsPrint(r) || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			if r <= 0xffff {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				fmt.Fprintf(&b, `\U%08x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shown is a text from a server as a comment may have it: on one line, with
// nothing that ends a line for anybody.
func shown(text string) string {
	const most = 100
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// firstSentence of a description, without its full stop.
func firstSentence(text string) string {
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return strings.TrimSuffix(shown(sentence), ".")
}
