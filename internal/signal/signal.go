// Package signal says where data was going: the hosts, mail addresses and
// network addresses that a call's arguments name as destinations.
//
// It is read before redaction, since what a destination is must not depend on
// what was replaced in it, and its result is stored. So it must never carry a
// secret: the user part of a URL is dropped, paths and queries are not kept,
// and every value passes package redact before it is given out. It must not
// keep content either: an address in the text of a letter is counted, not named.
// It must not panic, recurse or take more than linear time.
//
// # Life of a signal
//
// [Find] walks the arguments by position. A member whose name says that its
// value is where something goes ("to", "webhookUrl", "smtp_server") makes all
// strings under it routing values. From
//
//	{"to":"Jo <jo@acme.example>","url":"https://bob:pw@api.acme.example/x?k=1","body":"ask ann@acme.example"}
//
// come the host api.acme.example, the mail address jo@acme.example, and one
// mail address counted as content.
package signal

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/redact"
)

const (
	// MostBytes is how much of the arguments is looked at.
	MostBytes = 1 << 20
	// MostValues is how many destinations of one kind are kept.
	MostValues = 50
	// mostCounted is how many different content values of a kind are told
	// apart; there are as many again or more when the count says so.
	mostCounted = 1000
)

// Signals are the destinations of one call. Each list is sorted and has each
// value once.
type Signals struct {
	Hosts  []string `json:"hosts,omitempty"`
	Emails []string `json:"emails,omitempty"`
	IPs    []string `json:"ips,omitempty"`
	// Content counts the different values of each kind that stand elsewhere.
	Content Counts `json:"content,omitzero"`
	// Cut says that there was more than is kept or was looked at.
	Cut bool `json:"cut,omitempty"`
}

// Counts are numbers of different values.
type Counts struct {
	Hosts  int `json:"hosts,omitempty"`
	Emails int `json:"emails,omitempty"`
	IPs    int `json:"ips,omitempty"`
}

// Empty says whether nothing was found.
func (s Signals) Empty() bool {
	return len(s.Hosts)+len(s.Emails)+len(s.IPs) == 0 && s.Content == Counts{} && !s.Cut
}

// kind is what a value is.
type kind uint8

const (
	host kind = iota
	email
	ip
	kinds
)

// finder gathers values.
type finder struct {
	routing [kinds]map[string]bool
	content [kinds]map[string]bool
	cut     bool
}

// Find returns where the arguments of a call send data. The arguments are one
// JSON value as it was written, or the beginning of one.
func Find(arguments []byte) Signals {
	var f finder
	if len(arguments) > MostBytes {
		arguments, f.cut = arguments[:MostBytes], true
	}
	f.walk(arguments)
	signals := Signals{
		Hosts:  f.list(host),
		Emails: f.list(email),
		IPs:    f.list(ip),
		Content: Counts{
			Hosts:  len(f.content[host]),
			Emails: len(f.content[email]),
			IPs:    len(f.content[ip]),
		},
	}
	signals.Cut = f.cut
	return signals
}

// add keeps or counts a value.
func (f *finder) add(k kind, value string, routing bool) {
	set, most := &f.content[k], mostCounted
	if routing {
		set, most = &f.routing[k], mostCounted
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	if len(*set) >= most && !(*set)[value] {
		f.cut = true
		return
	}
	(*set)[value] = true
}

// list returns the routing values of a kind. A host name can be made to carry
// a secret, so each passes the same search as all that is stored.
func (f *finder) list(k kind) []string {
	var list []string
	for value := range f.routing[k] {
		safe, _ := redact.Text(value)
		list = append(list, safe)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > MostValues {
		list, f.cut = list[:MostValues:MostValues], true
	}
	return list
}

// routingWords are the words of a name that say that its value is where
// something goes.
var routingWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`to cc bcc url urls uri uris endpoint endpoints host hosts hostname hostnames recipient recipients
		dest destination destinations webhook webhooks callback address addresses addr target targets server servers upload forward
		sendto mailto channel channels remote domain domains origin upstream proxy relay broker bootstrap peer peers href link links
		site website email emails mail replyto receiver receivers subscriber subscribers attendee attendees invitee invitees notify
		ip ips ipaddress dsn database connection repo repository registry bucket baseurl apiurl webhookurl callbackurl redirect gateway
		smtp imap ftp sftp ssh node nodes cluster nameserver nameservers empfänger destinataire destinatario`) {
		set[w] = true
	}
	return set
}()

// notRouting are last words that make a name of something else: a toolName has
// no "to" in it, but a target_type is not where anything goes.
var notRouting = map[string]bool{
	"type": true, "count": true, "id": true, "ids": true, "size": true, "limit": true, "format": true, "status": true,
	"subject": true, "body": true, "text": true, "content": true, "message": true, "description": true, "title": true, "method": true,
}

// isRouting says whether a name is that of a destination.
func isRouting(name []byte) bool {
	if len(name) == 0 || len(name) > 80 {
		return false
	}
	var word [80]byte
	n, found, last := 0, false, false
	flush := func() {
		if n > 0 {
			found = found || routingWords[string(word[:n])]
			last = notRouting[string(word[:n])]
		}
		n = 0
	}
	for i, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			previousSmall := i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z'
			nextSmall := i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'
			previousBig := i > 0 && name[i-1] >= 'A' && name[i-1] <= 'Z'
			// "URLs" is one word, "URLList" two.
			if previousSmall || previousBig && nextSmall && string(name[i+1:]) != "s" {
				flush()
			}
			word[n] = c | 0x20
			n++
		case c >= 'a' && c <= 'z' || c >= 0x80:
			word[n] = c
			n++
		default:
			flush()
		}
	}
	flush()
	return found && !last
}
