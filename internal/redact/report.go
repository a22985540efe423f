package redact

import (
	"bytes"
	"maps"
	"slices"
)

// Reason says why something was replaced. It is part of the stored text, so
// its spelling never changes: small letters, digits and underscores.
type Reason string

// The reasons that are not a key format; those are in the table of formats.
const (
	KeyName     Reason = "key_name"     // its name says so
	Cookie      Reason = "cookie"       // a Cookie or Set-Cookie header
	CardNumber  Reason = "card_number"  // a payment card
	SeedPhrase  Reason = "seed_phrase"  // words that restore a wallet
	PrivateKey  Reason = "private_key"  // a PEM, OpenSSH, PGP or DER private key
	URLPassword Reason = "url_password" // user:password@ in a URL
	URLQuery    Reason = "url_query"    // a secret parameter of a URL
	BearerToken Reason = "bearer_token" // after Bearer and its like
	BasicAuth   Reason = "basic_auth"   // after Basic
	JWT         Reason = "jwt"          // a JSON web token
	HighEntropy Reason = "high_entropy" // looks drawn at random
	Cut         Reason = "cut"          // may be part of a secret that was cut
)

// Report counts what was replaced, by reason. Nil means nothing was.
type Report map[Reason]int

// Total is the number of replacements.
func (r Report) Total() int {
	n := 0
	for _, count := range r {
		n += count
	}
	return n
}

// Merge adds the counts of other and returns the sum, which may be r itself.
func (r Report) Merge(other Report) Report {
	if len(other) == 0 {
		return r
	}
	if r == nil {
		return maps.Clone(other)
	}
	for reason, n := range other {
		r[reason] += n
	}
	return r
}

func (r *Report) add(reason Reason) {
	if *r == nil {
		*r = Report{}
	}
	(*r)[reason]++
}

// Reasons lists every reason that can stand in a placeholder, sorted.
func Reasons() []Reason {
	return slices.Sorted(maps.Keys(knownReasons))
}

// knownReasons is what a placeholder may say. Anything else in that form was
// written by someone who would like it to be passed over.
var knownReasons = func() map[Reason]bool {
	known := map[Reason]bool{}
	for _, r := range []Reason{
		KeyName, Cookie, CardNumber, SeedPhrase, PrivateKey, URLPassword,
		URLQuery, BearerToken, BasicAuth, JWT, HighEntropy, Cut,
	} {
		known[r] = true
	}
	for _, f := range formats {
		known[f.reason] = true
	}
	for _, r := range shapeReasons {
		known[r] = true
	}
	return known
}()

const (
	placeholderHead  = "<redacted:"
	longestReason    = 32
	longestHolderLen = len(placeholderHead) + longestReason + 1
)

// Placeholder is what stands in the place of a secret. It says nothing about
// the secret's length.
func Placeholder(r Reason) string { return placeholderHead + string(r) + ">" }

// holderEnd returns the offset after the placeholder that begins at pos, or 0
// where there is none.
func holderEnd(t []byte, pos int) int {
	if t[pos] != '<' || !bytes.HasPrefix(t[pos:], []byte(placeholderHead)) {
		return 0
	}
	start := pos + len(placeholderHead)
	n := bytes.IndexByte(t[start:min(len(t), start+longestReason+1)], '>')
	if n < 0 || !knownReasons[Reason(t[start:start+n])] {
		return 0
	}
	return start + n + 1
}

// isHolder says whether all of v is one placeholder.
func isHolder(v []byte) bool {
	return len(v) > 0 && v[0] == '<' && len(v) <= longestHolderLen && holderEnd(v, 0) == len(v)
}
