package demo

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// judge decides whether a tool may be called although nobody asked for it,
// and if not, says why.
//
// What a server says about its tools comes first: one that does not promise
// to only read is not called. Names are the second opinion, because promises
// are often copied from tool to tool. A server that promises nothing is
// judged by its names alone, and then the name has to say that it reads. In
// doubt the answer is no: a tool that is not called is a line in the output,
// one that is called wrongly is somebody's lost data.
func judge(tool *mcp.Tool) (reason string, safe bool) {
	words, ok := splitName(tool.Name)
	if !ok {
		return "its name has characters that could stand for others", false
	}
	hints := tool.Annotations
	switch {
	case hints == nil:
		return judgeName(words)
	case hints.DestructiveHint != nil && *hints.DestructiveHint:
		return "it says that it may destroy something", false
	// The SDK reads a missing hint as false, and so does the protocol.
	case !hints.ReadOnlyHint:
		return "it does not say that it only reads", false
	}
	if word, found := alarming(words); found {
		return "it says that it only reads, but its name says " + strconv.Quote(word), false
	}
	if word, found := secret(words); found {
		return "its answer may hold secrets (" + strconv.Quote(word) + ")", false
	}
	if slices.Contains(changeVerbs(), words[0]) {
		return "it says that it only reads, but its name says " + strconv.Quote(words[0]), false
	}
	return "", true
}

// judgeName decides by the name alone.
func judgeName(words []string) (reason string, safe bool) {
	if word, found := alarming(words); found {
		return "its name says " + strconv.Quote(word), false
	}
	if word, found := secret(words); found {
		return "its answer may hold secrets (" + strconv.Quote(word) + ")", false
	}
	joins := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(joinWords(), w) })
	for i, word := range words {
		either := (i == 0 || joins) && slices.Contains(eitherVerbs(), word)
		if either || slices.Contains(changeVerbs(), word) {
			return "its name says " + strconv.Quote(word), false
		}
	}
	if !readsByName(words) {
		return "nothing says that it only reads", false
	}
	return "", true
}

// readsByName is true when a reading verb leads (list_orders), follows one
// word of its field (ip_get_details) or ends the name (memory_bank_read).
func readsByName(words []string) bool {
	last := len(words) - 1
	if slices.Contains(readVerbs(), words[0]) {
		return last == 0 || !slices.Contains(particles(), words[1])
	}
	inField := fieldVerbs()
	return last > 0 && (slices.Contains(inField, words[1]) || slices.Contains(inField, words[last]))
}

// alarming finds a word that no reading tool has a need for. Stems are found
// anywhere in a word, so that deleted, bulkdelete and deletion count as well.
func alarming(words []string) (string, bool) {
	for _, word := range words {
		if slices.Contains(alarmWords(), word) || containsAny(word, alarmStems()) {
			return word, true
		}
	}
	return "", false
}

// secret finds a word for what nobody wants to see in an answer. Stems are
// looked for across words too: api_key, apiKey and apikey are one thing.
func secret(words []string) (string, bool) {
	for _, word := range words {
		if slices.Contains(secretWords(), word) {
			return word, true
		}
	}
	joined := strings.Join(words, "")
	for _, stem := range secretStems() {
		if strings.Contains(joined, stem) {
			return stem, true
		}
	}
	return "", false
}

// splitName cuts a name into lower-case words at everything that is no
// letter, and before a capital: getOrder, get-order and GET_ORDER2 are the
// same. A letter outside ASCII makes the name unfit to judge: a Cyrillic е
// in delete would hide it from every list of words.
func splitName(name string) (words []string, ok bool) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	letters := []rune(name)
	for i, r := range letters {
		switch {
		case r > unicode.MaxASCII:
			return nil, false
		case !unicode.IsLetter(r):
			end()
			continue
		case startsWord(letters, i):
			end()
		}
		word = append(word, r)
	}
	end()
	return words, len(words) > 0
}

// startsWord is true at the O of getOrder and at the O of HTTPOrder, and
// false inside GET.
func startsWord(letters []rune, at int) bool {
	if at == 0 || !unicode.IsUpper(letters[at]) {
		return false
	}
	afterLower := unicode.IsLower(letters[at-1])
	beforeLower := at+1 < len(letters) && unicode.IsLower(letters[at+1])
	return afterLower || unicode.IsUpper(letters[at-1]) && beforeLower
}

func containsAny(word string, stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { return strings.Contains(word, stem) })
}
