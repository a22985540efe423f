package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// Caller finds the address that a request came from. It is for slowing down
// whoever tries many credentials, and decides on nothing else.
type Caller struct {
	trusted []netip.Prefix
}

// NewCaller believes X-Forwarded-For from these networks; from none if there is
// no proxy.
func NewCaller(behindProxy bool, trusted []netip.Prefix) *Caller {
	if !behindProxy {
		trusted = nil
	}
	return &Caller{trusted: trusted}
}

// Address is the last one on the way that is not a trusted proxy's. What stands
// further left was written by a stranger and may be anything.
func (c *Caller) Address(r *http.Request) netip.Addr {
	at := peer(r)
	if !c.trusts(at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseHop(strings.TrimSpace(hops[i]))
		if !ok {
			return at
		}
		at = hop
		if !c.trusts(at) {
			return at
		}
	}
	return at
}

func (c *Caller) trusts(a netip.Addr) bool {
	for _, network := range c.trusted {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// parseHop reads an address, with or without a port and brackets: proxies differ.
func parseHop(text string) (netip.Addr, bool) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

// Text is [Caller.Address] as text.
func (c *Caller) Text(r *http.Request) string { return c.Address(r).String() }
