package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/terminal"
)

// The journal's format has fixed words for what was odd about a message, why
// part of the wire was not seen, and why a session ended. Here is what each
// means to a reader. A word that a newer recorder wrote is shown as it is.

var flagMeanings = map[string]string{
	"ambiguous":      "another call with the same id was open, so which answer belongs to which is not certain",
	"batch":          "it was an element of a JSON-RPC batch",
	"blank":          "it was a line of white space",
	"bom":            "it began with a byte order mark",
	"cut":            "part of it was not seen, so its size is of the part that was",
	"duplicate_keys": "a member stands in it twice; programs differ in which of the two they believe",
	"invalid_utf8":   "it has bytes that are not UTF-8",
	"late":           "it came after the call had been cancelled",
	"malformed":      "it begins like JSON-RPC and then breaks off or goes wrong",
	"more":           "the list goes on in another answer",
	"not_json":       "it is no JSON-RPC message",
	"refused":        "it was not forwarded to the server",
	"skimmed":        "its content was not kept, because the recorder was behind",
	"trailing":       "something follows the JSON value on its line",
	"unasked":        "it answers no request that was open",
	"unterminated":   "the stream ended before its line did",
}

func flagMeaning(flag string) string {
	if meaning, known := flagMeanings[flag]; known {
		return flag + ": " + meaning
	}
	return flag
}

// redactedReasons say why a value was replaced before it was stored. A reason
// that is not here names the format of a key, as in github_token.
var redactedReasons = map[string]string{
	"key_name":     "its name says that it is secret",
	"cookie":       "a cookie",
	"card_number":  "a payment card",
	"seed_phrase":  "words that restore a wallet",
	"private_key":  "a private key",
	"url_password": "a password in a URL",
	"url_query":    "a secret parameter of a URL",
	"bearer_token": "a bearer token",
	"basic_auth":   "basic authentication",
	"jwt":          "a JSON web token",
	"high_entropy": "it looks drawn at random",
	"cut":          "it may be part of a secret that was cut",
}

// redactedText says how much was replaced, and why.
func redactedText(counts map[string]int64) string {
	var reasons []string
	total := int64(0)
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		meaning, known := redactedReasons[reason]
		if !known {
			meaning = strings.ReplaceAll(reason, "_", " ")
		}
		total += counts[reason]
		reasons = append(reasons, fmt.Sprintf("%s (%s)", terminal.Count(counts[reason]), meaning))
	}
	return terminal.Plural(total, "secret") + " replaced before storing: " + strings.Join(reasons, ", ")
}

func gapReason(reason string) string {
	switch reason {
	case "observer_behind":
		return "(traffic was faster than it could be read)"
	case "observer_failed":
		return "(a fault in the recorder)"
	case "journal_failed":
		return "(the journal could not be written)"
	case "":
		return ""
	}
	return "(" + strings.ReplaceAll(reason, "_", " ") + ")"
}
