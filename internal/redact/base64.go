package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

type unpacked uint8

const (
	isOpaque unpacked = iota // random bytes, for all one can see
	isKept                   // something harmless in base64
	isSecret                 // something secret in base64
)

// blobMarks begin files, public keys and other things that are often carried
// in base64 and are no key.
var blobMarks = []string{
	"\x89PNG", "\xff\xd8\xff", "GIF8", "%PDF", "PK\x03\x04", "\x1f\x8b", "RIFF", "OggS", "ID3", "fLaC", "wOFF", "wOF2",
	"7z\xbc\xaf", "BZh", "\x28\xb5\x2f\xfd", "\x7fELF", "\x00asm", "\x00\x00\x01\x00", "MZ",
	"\x00\x00\x00\x07ssh-", "\x00\x00\x00\x0bssh-", "\x00\x00\x00\x13ecdsa-",
}

// unpack looks at what v holds if it is base64.
func (s *search) unpack(v []byte) (unpacked, Reason) {
	if what, reason := packedHead(v); what != isOpaque {
		return what, reason
	}
	if s.unpacking {
		return isOpaque, ""
	}
	text, ok := decodeBase64(v)
	if !ok || !printable(text) {
		return isOpaque, ""
	}
	// Text in base64 is kept, as text would be, unless a secret is in it.
	inner := search{unpacking: true, names: s.names}
	inner.text(text)
	for _, h := range inner.hits {
		if h.reason != HighEntropy {
			return isSecret, h.reason
		}
	}
	return isKept, ""
}

// packedHead knows files and keys by the first bytes.
func packedHead(v []byte) (unpacked, Reason) {
	head, ok := decodeBase64(v[:min(len(v), 32)&^3])
	if !ok {
		return isOpaque, ""
	}
	for _, mark := range blobMarks {
		if bytes.HasPrefix(head, []byte(mark)) {
			return isKept, ""
		}
	}
	if bytes.HasPrefix(head, []byte("openssh-key-v1")) {
		return isSecret, PrivateKey
	}
	return derKey(head)
}

// derKey tells a private key in DER, which begins with a version number, from
// a certificate or public key, which begins with another sequence.
func derKey(head []byte) (unpacked, Reason) {
	if len(head) < 8 || head[0] != 0x30 {
		return isOpaque, ""
	}
	body := head[2:]
	switch head[1] {
	case 0x81:
		body = head[3:]
	case 0x82:
		body = head[4:]
	}
	if body[0] == 0x02 && body[1] == 0x01 && body[2] <= 1 {
		return isSecret, PrivateKey
	}
	if head[1] >= 0x81 && body[0] == 0x30 || bytes.HasPrefix(head, []byte{0x30, 0x2a, 0x30, 0x05}) {
		return isKept, ""
	}
	return isOpaque, ""
}

// decodeBase64 decodes as much of v as is whole, in either alphabet.
func decodeBase64(v []byte) ([]byte, bool) {
	if len(v)%4 == 1 {
		v = v[:len(v)-1]
	}
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(v, "-_") {
		encoding = base64.RawURLEncoding
	}
	out := make([]byte, encoding.DecodedLen(len(v)))
	n, err := encoding.Decode(out, v)
	return out[:n], err == nil
}

// printable says whether b is text: UTF-8 (its last rune may be cut), with at
// most one control byte in twenty.
func printable(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	odd := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:]) {
				i = len(b)
				continue
			}
			return false
		case r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7f:
			odd++
		}
		i += size
	}
	return odd*20 <= len(b)
}
