package signal

import (
	"bytes"
	"net/netip"
	"strings"
)

const (
	longestHost  = 253
	longestLocal = 64 // of a mail address
)

// text finds URLs, mail addresses and network addresses in a text. Each byte
// is looked at a bounded number of times: the parts before and behind a mark
// have a greatest length.
func (f *finder) text(t []byte, routing bool) {
	for i := 0; i < len(t); {
		n := bytes.IndexAny(t[i:], "@:.")
		if n < 0 {
			return
		}
		i += n
		switch t[i] {
		case '@':
			i = f.email(t, i, routing)
		case ':':
			if bytes.HasPrefix(t[i:], []byte("://")) {
				i = f.url(t, i+3, routing)
				continue
			}
			i = f.six(t, i, routing)
		default:
			i = f.four(t, i, routing)
		}
	}
}

// url takes the host of the URL whose authority begins at t[at]. The user part
// goes first, whatever is in it.
func (f *finder) url(t []byte, at int, routing bool) int {
	end := at
	for end < len(t) && end-at < 1024 && !endsAuthority(t[end]) {
		end++
	}
	if i := lateAt(t, at, end); i > 0 {
		// A password with a slash in it, as one finds in database URLs: what
		// stands before the slash is a user and half of a password.
		at, end = i, i
		for end < len(t) && end-at < 1024 && !endsAuthority(t[end]) {
			end++
		}
	}
	authority := t[at:end]
	if i := bytes.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	for part := range bytes.SplitSeq(authority, []byte(",")) { // several MongoDB hosts
		f.authority(part, routing)
	}
	return max(end, at)
}

func endsAuthority(c byte) bool {
	return c <= ' ' || strings.IndexByte("/?#\"'<>\\`)]}{|^", c) >= 0 && c != ']'
}

// lateAt finds the @ of a user part whose password was not escaped, and returns
// the offset behind it. It is believed only where the part before the first
// slash is user:something with no port in the something, and not on the web,
// where paths have an @ in them.
func lateAt(t []byte, at, end int) int {
	user := t[at:end]
	colon := bytes.IndexByte(user, ':')
	if colon < 0 || end >= len(t) || webScheme(t[:at-3]) || allDigits(user[colon+1:]) || user[0] == '[' {
		return 0
	}
	late := 0
	for i := end; i < len(t) && i-end < 256 && t[i] > ' ' && t[i] != '"' && !bytes.HasPrefix(t[i:], []byte("://")); i++ {
		if t[i] == '@' {
			late = i + 1
		}
	}
	return late
}

// webScheme says whether the scheme that ends t is http or https.
func webScheme(t []byte) bool {
	return bytes.HasSuffix(t, []byte("http")) || bytes.HasSuffix(t, []byte("https"))
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// authority takes host, host:port, [v6] or [v6]:port.
func (f *finder) authority(a []byte, routing bool) {
	if len(a) == 0 {
		return
	}
	if a[0] == '[' {
		if i := bytes.IndexByte(a, ']'); i > 0 {
			f.address(a[1:i], routing)
		}
		return
	}
	name, port, hasPort := bytes.Cut(a, []byte(":"))
	if hasPort && !allDigits(port) {
		return // user:pass without a host, or a template
	}
	if f.address(name, routing) {
		return
	}
	if h, ok := hostName(name); ok {
		f.add(host, h, routing)
	}
}

// address takes a network address in its shortest form, so that one address
// has one spelling.
func (f *finder) address(a []byte, routing bool) bool {
	if len(a) < 2 || len(a) > 64 {
		return false
	}
	parsed, err := netip.ParseAddr(string(a))
	if err != nil {
		return false
	}
	f.add(ip, parsed.WithZone("").Unmap().String(), routing)
	return true
}

// hostName checks and spells a host name: small letters, no dot at its end.
func hostName(name []byte) (string, bool) {
	name = bytes.TrimSuffix(name, []byte("."))
	if len(name) == 0 || len(name) > longestHost {
		return "", false
	}
	label := 0
	for _, c := range name {
		switch {
		case c == '.':
			if label == 0 {
				return "", false
			}
			label = 0
		case isHostByte(c):
			if label++; label > 63 {
				return "", false
			}
		default:
			return "", false
		}
	}
	if label == 0 || name[0] == '-' || name[len(name)-1] == '-' {
		return "", false
	}
	return strings.ToLower(string(name)), true
}

// isHostByte allows the letters of names in other scripts, as people write
// them, and the underscore of service names.
func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// bare takes a value that is nothing but a host, a host with a port, or an
// address, as routing members have it without a scheme.
func (f *finder) bare(v []byte) {
	v = bytes.TrimSpace(v)
	for part := range bytes.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\n' || r == '\t' }) {
		f.bareOne(part)
	}
}

func (f *finder) bareOne(part []byte) {
	if len(part) > longestHost+8 || bytes.Contains(part, []byte("://")) || bytes.IndexByte(part, '@') >= 0 {
		return
	}
	if i := bytes.IndexByte(part, '/'); i > 0 {
		part = part[:i] // host/path, or a network 10.0.0.0/8
	}
	if len(part) > 0 && (part[0] == '[' || bytes.Count(part, []byte(":")) > 1) {
		if part[0] == '[' {
			f.authority(part, true)
			return
		}
		f.address(part, true)
		return
	}
	name, port, hasPort := bytes.Cut(part, []byte(":"))
	if hasPort && (len(port) == 0 || len(port) > 5 || !allDigits(port)) {
		return
	}
	if f.address(name, true) {
		return
	}
	h, ok := hostName(name)
	if !ok || !hasPort && h != "localhost" && !looksLikeHost(h) {
		return
	}
	f.add(host, h, true)
}

// looksLikeHost says whether a bare word is a host and not a file or a number:
// it has a dot, and letters behind the last one that end no common file.
func looksLikeHost(h string) bool {
	i := strings.LastIndexByte(h, '.')
	if i <= 0 || len(h)-i < 3 {
		return false
	}
	last := h[i+1:]
	for _, c := range []byte(last) {
		if (c < 'a' || c > 'z') && c < 0x80 && c != '-' && !strings.HasPrefix(last, "xn--") {
			return false
		}
	}
	return !fileEndings[last]
}

var fileEndings = func() map[string]bool {
	set := map[string]bool{}
	for _, e := range strings.Fields(`txt md json yaml yml toml csv tsv xml html htm css js ts tsx jsx mjs cjs go py rb rs java kt swift cpp hpp
		pdf doc docx xls xlsx ppt pptx png jpg jpeg gif svg webp ico mp zip tar gz tgz xz zst log sql db sqlite env ini cfg conf lock
		exe dll so dylib bin wasm map pem key crt tmp bak parquet ipynb`) {
		set[e] = true
	}
	return set
}()

// email takes the address around the @ at t[at].
func (f *finder) email(t []byte, at int, routing bool) int {
	start := at
	for start > 0 && at-start < longestLocal+1 && isLocalByte(t[start-1]) {
		start--
	}
	end := at + 1
	for end < len(t) && end-at <= longestHost && (isHostByte(t[end]) || t[end] == '.') {
		end++
	}
	domain := bytes.TrimRight(t[at+1:end], ".-")
	local := bytes.TrimLeft(t[start:at], ".")
	if len(local) == 0 || len(local) > longestLocal || bytes.IndexByte(domain, '.') <= 0 {
		return max(end, at+1)
	}
	// user:password@host is no mail address, with or without a scheme, and a
	// slash before the name is that of a URL whose end was cut off.
	if start > 0 && (t[start-1] == ':' && !mailScheme(t[:start]) || t[start-1] == '/') {
		return max(end, at+1)
	}
	h, ok := hostName(domain)
	if !ok || allDigits([]byte(strings.ReplaceAll(h, ".", ""))) {
		return max(end, at+1)
	}
	f.add(email, strings.ToLower(string(local))+"@"+h, routing)
	return max(end, at+1)
}

// mailScheme says whether the colon that ends t stands in front of an address.
func mailScheme(t []byte) bool {
	t = bytes.ToLower(t[max(0, len(t)-8):])
	for _, scheme := range []string{"mailto:", "smtp:", "to:", "cc:", "from:", "email:", "mail:"} {
		if bytes.HasSuffix(t, []byte(scheme)) {
			return true
		}
	}
	return false
}

func isLocalByte(c byte) bool {
	return isHostByte(c) || c == '.' || c == '+' || c == '%' || c == '\''
}

// four takes a dotted quad around the dot at t[at].
func (f *finder) four(t []byte, at int, routing bool) int {
	if at == 0 || !isDigit(t[at-1]) {
		return at + 1
	}
	start := at
	for start > 0 && at-start < 4 && isDigit(t[start-1]) {
		start--
	}
	end := at
	for end < len(t) && end-at < 13 && (isDigit(t[end]) || t[end] == '.') {
		end++
	}
	if start > 0 && (isHostByte(t[start-1]) || t[start-1] == '.') || end < len(t) && (isHostByte(t[end]) || t[end] == '@') {
		return end // part of a version, a name or a longer number
	}
	f.address(bytes.TrimRight(t[start:end], "."), routing)
	return end
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// six takes an IPv6 address around the colon at t[at]. A time has colons too;
// an address has at least two, and eight groups or one gap.
func (f *finder) six(t []byte, at int, routing bool) int {
	start := at
	for start > 0 && at-start < 5 && isHex(t[start-1]) {
		start--
	}
	end := at
	for end < len(t) && end-at < 46 && (isHex(t[end]) || t[end] == ':' || t[end] == '.') {
		end++
	}
	if start > 0 && isHostByte(t[start-1]) || end < len(t) && isHostByte(t[end]) {
		return max(end, at+1)
	}
	a := bytes.TrimRight(t[start:end], ".")
	if bytes.Count(a, []byte(":")) < 2 || len(a) < 3 {
		return max(end, at+1)
	}
	f.address(a, routing)
	return max(end, at+1)
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
