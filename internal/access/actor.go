package access

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Actor is how an audit names who did something: "apikey:4fT9xK2b",
// "ada@example.com via CLIENT_ID" or "ada@example.com". No two kinds can be taken
// for each other: an address has an @ and no space, a prefix has neither, and a
// client id has no space.
type Actor string

func keyActor(p Prefix) Actor               { return Actor("apikey:" + p) }
func clientActor(e Email, c ClientID) Actor { return Actor(string(e) + " via " + string(c)) }
func memberActor(e Email) Actor             { return Actor(e) }

// Email is a member's address, as it was typed and in one spelling that cannot
// be mistaken for anything else in an audit.
type Email string

const (
	maxEmailBytes    = 254 // https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1.3 less the brackets
	maxClientIDBytes = 2048
)

// ParseEmail takes an address that can be named in an audit. Whether mail to it
// arrives is for a mail to find out. Quoted local parts, which may hold spaces
// and another @, are refused.
func ParseEmail(text string) (Email, error) {
	local, domain, _ := strings.Cut(text, "@")
	switch {
	case len(text) > maxEmailBytes:
		return "", fmt.Errorf("an email address has at most %d bytes", maxEmailBytes)
	case local == "" || domain == "" || strings.Contains(domain, "@"):
		return "", errors.New("an email address has one @ with something on both sides")
	case !plain(text) || strings.ContainsAny(text, `"<>(),;:\`):
		return "", errors.New("an email address has no spaces, quotes, brackets or invisible characters")
	}
	return Email(text), nil
}

// ClientID is how an OAuth client is registered: an opaque text or a URL.
type ClientID string

// ParseClientID takes the visible characters of ASCII. RFC 6749 would allow a
// space, and with it a client that looks like two in an audit.
func ParseClientID(text string) (ClientID, error) {
	if text == "" || len(text) > maxClientIDBytes {
		return "", fmt.Errorf("a client id has 1 to %d bytes", maxClientIDBytes)
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b > '~' {
			return "", errors.New("a client id has visible ASCII characters only")
		}
	}
	return ClientID(text), nil
}

// plain says that a text is UTF-8 without spaces, controls and characters that
// are not seen or that turn the text around.
func plain(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if r == ' ' || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
