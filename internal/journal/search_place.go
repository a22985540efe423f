package journal

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// deriveExtra says what the derived tables need of a detail beside columns.
func deriveExtra(d *entry.Detail) derived {
	if d == nil {
		return derived{}
	}
	return derived{declaration: d.Declaration, places: placesOf(d), text: d.Args != nil || d.Preview != nil || d.ErrorText != nil}
}

// bytes is what the item carries for derived tables.
func (d *derived) bytes() int64 {
	var total int64
	for _, place := range d.places {
		total += int64(len(place))
	}
	return total
}

// placesOf are the destinations of a detail as the table has them: sorted,
// none twice. A domain comes from its end, so that all that belongs to it has
// one beginning.
func placesOf(d *entry.Detail) []string {
	if d == nil || d.Destinations == nil {
		return nil
	}
	var places []string
	for _, host := range d.Destinations.Hosts {
		places = append(places, hostPlace(host))
	}
	for _, email := range d.Destinations.Emails {
		places = append(places, emailPlace(email))
	}
	for _, ip := range d.Destinations.IPs {
		places = append(places, addressPlace(ip))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// hostPlace turns api.example.com into com.example.api. with a full stop
// behind every label.
func hostPlace(host string) string {
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

// emailPlace turns bob@example.com into com.example.@bob.
func emailPlace(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return hostPlace(email)
	}
	return hostPlace(email[at+1:]) + "@" + strings.ToLower(email[:at])
}

// addressPlace is = and the address in its shortest form. No label begins so.
func addressPlace(ip string) string {
	if address, err := netip.ParseAddr(strings.Trim(ip, "[]")); err == nil {
		return "=" + address.Unmap().String()
	}
	return "=" + strings.ToLower(ip)
}

// placeRange is where in the table lies what somebody looks for: an address,
// an email, or a host with everything below it. The end is not in it.
func placeRange(wanted string) (from, end string) {
	wanted = strings.TrimSpace(wanted)
	if _, err := netip.ParseAddr(strings.Trim(wanted, "[]")); err == nil {
		place := addressPlace(wanted)
		return place, place + "\x00"
	}
	if local, domain, found := strings.Cut(wanted, "@"); found && local != "" && domain != "" {
		place := emailPlace(wanted)
		return place, place + "\x00"
	}
	place := hostPlace(strings.TrimPrefix(strings.TrimPrefix(wanted, "@"), "*."))
	return place, place[:len(place)-1] + "/" // what comes next after a full stop
}

// placeName turns what the table has back into a destination.
func placeName(place string) (kind, name string) {
	if address, found := strings.CutPrefix(place, "="); found {
		return "ip", address
	}
	domain, local, isEmail := strings.Cut(place, "@")
	labels := strings.Split(strings.TrimSuffix(domain, "."), ".")
	slices.Reverse(labels)
	if name = strings.Join(labels, "."); isEmail {
		return "email", local + "@" + name
	}
	return "host", name
}
