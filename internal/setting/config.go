package setting

import (
	"net/netip"
)

// Config is what the settings come to.
type Config struct {
	Data       string
	Database   string // empty: SQLite in Data
	SecretFile string // empty: made in Data
	// SecretCommand prints the secret; empty: it is in a file.
	SecretCommand string
	// AcceptClock goes on from a clock that is behind what was written.
	AcceptClock bool

	Listen         string
	PublicURL      string // scheme and host; empty: follows from the address
	TLSCert        string
	TLSKey         string
	BehindProxy    bool
	TrustedProxies []netip.Prefix
	MetricsListen  string // empty: at Listen, for this machine only

	WorkspaceName string
	OwnerEmail    string

	LogFormat     string
	LogLevel      string
	ShutdownLimit Duration

	// RequestsPerSecond is for each credential; 0 is no limit.
	RequestsPerSecond int

	// Plans is the file of plans; empty: there is one, without limits.
	Plans string

	Tracing Tracing
}

// TLS says that the server itself ends TLS.
func (c *Config) TLS() bool { return c.TLSCert != "" }

// problems are what is wrong with settings together, each of which is right
// alone.
func (c *Config) problems(origin func(name string) Origin) Problems {
	var all Problems
	say := func(name, message, hint string) {
		all = append(all, Problem{Setting: name, Origin: origin(name), Message: message, Hint: hint})
	}
	beyond := c.Listen != "" && !Loopback(c.Listen)
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		say("tls-cert", "there is a certificate without its key", "name the key: --tls-key FILE")
	case c.TLSKey != "" && c.TLSCert == "":
		say("tls-key", "there is a key without its certificate", "name the certificate: --tls-cert FILE")
	case c.TLS() && c.BehindProxy:
		say("behind-proxy", "either the server ends TLS or a proxy in front of it does", "leave out --behind-proxy or the certificate")
	case beyond && !c.TLS() && !c.BehindProxy:
		say("listen", "plain HTTP beyond this machine would carry keys and sessions in the clear",
			"give a certificate: --tls-cert FILE --tls-key FILE\nor put a proxy that ends TLS in front, and say --behind-proxy\nor listen on this machine alone: --listen 127.0.0.1:7373")
	}
	if c.PublicURL == "" && (beyond || c.BehindProxy) {
		say("public-url", "it must be said where people and agents reach the server", "for example: --public-url https://deed.example.com")
	}
	if c.Database == "" && c.Data == "" {
		say("data", "there is no usual place for data on this system", "name a folder: --data DIR")
	}
	switch {
	case c.SecretCommand != "" && c.SecretFile != "":
		say("secret-command", "the secret comes either from a file or from a command", "leave out one of secret-file and secret-command")
	case c.Database != "" && c.SecretFile == "" && c.SecretCommand == "":
		say("secret-file", "with a database of its own the server does not make a secret: every server needs the same",
			"make one, once: deed secret new deed.secret\nand name it, or a copy of it, for every server: --secret-file deed.secret\nor a command that prints it: --secret-command COMMAND")
	}
	return all
}
