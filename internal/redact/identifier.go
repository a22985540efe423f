package redact

import "bytes"

// isIdentifier knows the shapes of identifiers that are long and random and
// no secret: whoever holds one can name a thing and do nothing else.
func isIdentifier(v []byte) bool {
	if bytes.IndexByte(v, '-') >= 0 && hexSegments(v) {
		return true // a UUID, a trace header
	}
	if len(v) == 26 && isULID(v) {
		return true
	}
	if len(v) == 46 && v[0] == 'Q' && v[1] == 'm' {
		return true // an IPFS address
	}
	for _, prefix := range []string{"bafy", "bafk", "bc1", "age1", "npub1", "0x"} {
		if bytes.HasPrefix(v, []byte(prefix)) && all(v, alnum) {
			return true
		}
	}
	if len(v) <= 35 && (v[0] == '1' || v[0] == '3') && base58Check(v) {
		return true // a bitcoin address
	}
	return isObjectID(v) || isVerifierKey(v)
}

// isVerifierKey says whether v is the public key of a signed note: a name,
// eight hex digits and a key, joined by plus signs.
func isVerifierKey(v []byte) bool {
	_, rest, ok := bytes.Cut(v, []byte("+"))
	return ok && len(rest) > 40 && rest[8] == '+' && all(rest[:8], hexDigits)
}

// isULID says whether v is a ULID, in one case. Its first byte is at most 7.
func isULID(v []byte) bool {
	if v[0] > '7' || v[0] < '0' {
		return false
	}
	var kinds class
	for _, c := range v {
		k := classes[c]
		if k&alnum == 0 || k&notCrockford != 0 {
			return false
		}
		kinds |= k
	}
	return kinds&letters != letters
}

// hexSegments says whether v is made of hex digits between dashes only.
func hexSegments(v []byte) bool {
	for _, c := range v {
		if c != '-' && c != '_' && !is(c, hexDigits) {
			return false
		}
	}
	return true
}

// secretPrefixes are words that begin keys rather than object identifiers.
var secretPrefixes = map[string]bool{
	"sk": true, "rk": true, "key": true, "secret": true, "token": true, "pat": true, "api": true,
	"tok": true, "auth": true, "pw": true, "pwd": true, "pass": true, "password": true, "live": true, "prod": true,
	"private": true, "priv": true, "access": true, "bearer": true, "apikey": true, "s": true, "cred": true,
}

// testableObjects are the kinds of object whose identifiers say live or test.
var testableObjects = map[string]bool{"cs": true, "pk": true, "ca": true, "acs": true}

// isObjectID says whether v is like cus_…, ch_…, chatcmpl-…: a short word that
// names a kind of object, and one random piece.
func isObjectID(v []byte) bool {
	n := span(v, lower)
	if n < 2 || n > 12 || n == len(v) || v[n] != '_' && v[n] != '-' || secretPrefixes[string(v[:n])] {
		return false
	}
	rest := v[n+1:]
	if testableObjects[string(v[:n])] {
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("live_")), []byte("test_"))
	}
	return len(rest) >= 8 && len(rest) <= 40 && all(rest, alnum)
}

// digestMarks stand in front of content hashes in base64.
var digestMarks = []string{"sha1-", "sha256-", "sha384-", "sha512-", "md5-", "sha256=", "sha512=", "h1:", "SHA256:", "sha256:", "W/\""}

// isDigest says whether the unit v, which begins at t[from], is marked as a
// content hash. Lock files are full of them, and they open nothing.
func isDigest(t []byte, from int, v []byte) bool {
	before := t[max(0, from-8):from]
	for _, mark := range digestMarks {
		if bytes.HasPrefix(v, []byte(mark)) || bytes.HasSuffix(before, []byte(mark)) {
			return true
		}
	}
	return false
}

// isPath says whether v, which has a slash, is a path and not base64: the
// pieces of base64 between slashes are as random as the whole.
func isPath(v []byte) bool {
	if v[0] == '/' {
		// /nix/store/…: base64 hardly begins with a small word between slashes.
		if n := span(v[1:], lower); n >= 2 && n <= 12 && n+1 < len(v) && v[n+1] == '/' {
			return true
		}
	}
	pieces, plain, plainBytes := 0, 0, 0
	for piece := range bytes.SplitSeq(v, []byte("/")) {
		if len(piece) == 0 {
			continue
		}
		pieces++
		if all(piece, digits|hexLower|wordMarks) || len(piece) >= 2 && naturalShare(piece) >= 50 {
			plain++
			plainBytes += len(piece)
		}
	}
	if pieces >= 5 && len(v) < pieces*10 {
		return true // base64 has one slash in sixty-four bytes
	}
	return pieces > 0 && plain*2 >= pieces && (pieces > 2 || plainBytes*3 >= len(v))
}
