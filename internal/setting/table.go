package setting

import (
	"slices"
	"strings"
)

// Use says which commands a setting is for.
type Use uint8

// The uses.
const (
	Kept    Use = 1 << iota // where things are kept: every command that opens them
	Serving                 // deed serve alone
	Planned                 // what knows plans
)

// Setting is one setting. Its flag is "--" and its name, its key in the file its
// name, its environment variable "DEED_" and its name in capitals.
type Setting struct {
	Name    string
	Form    Form
	Default string // as it would be written; empty: none
	// Absent says what holds where there is no default.
	Absent  string
	Meaning string
	Use     Use

	// secret says whether a value holds a secret, and how the value is shown
	// without it; nil: it never does. Such a value is refused as a flag, because
	// everybody on the machine can read the arguments of a process.
	secret func(value string) (shown string, found bool)
	// unshown says that a wrong value is not shown, since it may hold what has no
	// place in it.
	unshown bool
	// into reads a value into its place in a config.
	into func(c *Config, value string) error
	// standard finds the value among variables of a standard, which hold where the
	// setting is absent; nil: there are none.
	standard func(variable func(name string) string) (given, bool)
}

// Flag is the setting's flag.
func (s Setting) Flag() string { return "--" + s.Name }

// Variable is the setting's environment variable.
func (s Setting) Variable() string {
	return "DEED_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Secret says that the setting's value may hold a secret.
func (s Setting) Secret() bool { return s.secret != nil }

// file is the setting that names the file of all others. It has no key in it.
const file = "config"

// mostRequests is far more than one server can answer.
const mostRequests = 1_000_000

// DefaultListen is where a server listens if nobody says otherwise.
const DefaultListen = "127.0.0.1:7373"

// Table has every setting, in the order in which they are shown.
func Table() []Setting {
	return []Setting{
		{
			Name: file, Form: File, Use: Kept, Absent: "no file is read",
			Meaning: "A YAML file with settings by name. What it names by a relative path lies beside it.",
			into:    func(*Config, string) error { return nil },
		},
		{
			Name: "data", Form: Folder, Use: Kept, Absent: "`deed` in the user's data folder (`~/.local/share/deed` on Linux)",
			Meaning: "Folder of the embedded database and its secret. One process serves it at a time.",
			into:    text(func(c *Config) *string { return &c.Data }),
		},
		{
			Name: "database", Form: URL, Use: Kept, Absent: "embedded SQLite in `data`",
			Meaning: "URL of a PostgreSQL database to use instead: `postgres://USER@HOST/NAME`. Any number of servers may share it.",
			secret:  withoutPassword, into: databaseURL,
		},
		{
			Name: "secret-file", Form: File, Use: Kept, Absent: "`secret` in `data`, made at the first start",
			Meaning: "File with the secret that seals credentials and signing keys, as `deed secret new` makes one. With `database` it must be given, the same for every server.",
			into:    text(func(c *Config) *string { return &c.SecretFile }),
		},
		{
			Name: "secret-command", Form: Command, Use: Kept, Absent: "the secret is in a file",
			Meaning: "Command that prints what would be in `secret-file`, run by the shell at each start: for a secret that a key management service or a secret manager keeps.",
			into:    text(func(c *Config) *string { return &c.SecretCommand }),
		},
		{
			Name: "accept-clock", Form: Switch, Default: "false", Use: Kept,
			Meaning: "Go on from the machine's clock though what is in `data` was written by one that was more than five minutes ahead of it. Until that time has passed, contracts that were activated by the other clock do not govern what is declared, and verdicts may look odd.",
			into:    toggle(func(c *Config) *bool { return &c.AcceptClock }),
		},
		{
			Name: "listen", Form: Address, Default: DefaultListen, Use: Serving,
			Meaning: "Address to listen at. Port 0 takes a free one. Beyond this machine it needs TLS or `behind-proxy`.",
			into:    address(func(c *Config) *string { return &c.Listen }),
		},
		{
			Name: "public-url", Form: URL, Use: Serving | Kept, Absent: "the address that is listened at",
			Meaning: "Where people and agents reach the server, as in `https://deed.example.com`. Required beyond this machine, and behind a proxy.",
			into:    publicURL,
		},
		{
			Name: "tls-cert", Form: File, Use: Serving, Absent: "plain HTTP",
			Meaning: "File with the TLS certificate and its chain, PEM. It is read again when it changes, and at SIGHUP.",
			into:    text(func(c *Config) *string { return &c.TLSCert }),
		},
		{
			Name: "tls-key", Form: File, Use: Serving, Absent: "plain HTTP",
			Meaning: "File with the certificate's key, PEM.",
			into:    text(func(c *Config) *string { return &c.TLSKey }),
		},
		{
			Name: "behind-proxy", Form: Switch, Default: "false", Use: Serving,
			Meaning: "A proxy in front ends TLS. Only then is `X-Forwarded-For` looked at, and only to slow down whoever tries many credentials.",
			into:    toggle(func(c *Config) *bool { return &c.BehindProxy }),
		},
		{
			Name: "trusted-proxies", Form: List, Default: "127.0.0.0/8,::1/128", Use: Serving,
			Meaning: "Networks of the proxies whose `X-Forwarded-For` is believed. It says nothing without `behind-proxy`.",
			into:    networks,
		},
		{
			Name: "metrics-listen", Form: Address, Use: Serving, Absent: "`/metrics` at `listen`, for this machine only",
			Meaning: "Another address for `/metrics`, `/healthz` and `/readyz`, in plain HTTP without a credential: for a network that only operators reach.",
			into:    address(func(c *Config) *string { return &c.MetricsListen }),
		},
		{
			Name: "workspace-name", Form: Text, Default: "main", Use: Serving,
			Meaning: "Name of the workspace that the first start makes.",
			into:    text(func(c *Config) *string { return &c.WorkspaceName }),
		},
		{
			Name: "owner-email", Form: Text, Default: "owner@localhost", Use: Serving,
			Meaning: "Address of the owner whom the first start makes, as the audit will name them.",
			into:    text(func(c *Config) *string { return &c.OwnerEmail }),
		},
		{
			Name: "log-format", Form: Choice("text", "json"), Default: "text", Use: Serving,
			Meaning: "Form of the log on standard error.",
			into:    text(func(c *Config) *string { return &c.LogFormat }),
		},
		{
			Name: "log-level", Form: Choice("debug", "info", "warn", "error"), Default: "info", Use: Serving,
			Meaning: "The least that is logged. `debug` has a line for each request.",
			into:    text(func(c *Config) *string { return &c.LogLevel }),
		},
		{
			Name: "shutdown-limit", Form: Span, Default: "20s", Use: Serving,
			Meaning: "How long requests that have begun may take after the server was told to end.",
			into:    span(func(c *Config) *Duration { return &c.ShutdownLimit }),
		},
		{
			Name: "requests-per-second", Form: Number, Default: "5000", Use: Serving,
			Meaning: "How many requests each API key and each member may make in the long run, and twice as many at once; more are answered with 429 and `Retry-After`. Each server counts for itself. 0 is no limit.",
			into:    number(mostRequests, func(c *Config) *int { return &c.RequestsPerSecond }),
		},
		{
			Name: "plans", Form: File, Use: Serving | Planned, Absent: "one plan, `default`, without limits",
			Meaning: "A YAML file of plans: how many actions a month and which features the workspaces on each have. It is read at the start.",
			into:    text(func(c *Config) *string { return &c.Plans }),
		},
		{
			Name: "otlp-endpoint", Form: URL, Use: Serving, Absent: "nothing is traced",
			Meaning: "URL of an OpenTelemetry collector that takes OTLP over HTTP, as in `http://127.0.0.1:4318`; `/v1/traces` is added where it is not there. Without it `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` (as it stands) or `OTEL_EXPORTER_OTLP_ENDPOINT` holds.",
			unshown: true, into: collector, standard: standardCollector,
		},
		{
			Name: "otlp-headers", Form: List, Use: Serving, Absent: "no headers",
			Meaning: "Headers for the collector, as in `x-api-key=…`, percent-encoded where they hold a comma. Without it `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS` holds.",
			secret:  wholly, into: collectorHeaders, standard: standardHeaders,
		},
		{
			Name: "trace-sample", Form: Share, Default: "1", Use: Serving,
			Meaning: "How many of the traces that begin here are sent. One that begins elsewhere is sent if it is recorded there. Without it `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` hold.",
			into:    traceShare, standard: standardSampler,
		},
	}
}

// For returns the settings of a use.
func For(u Use) []Setting {
	return slices.DeleteFunc(Table(), func(s Setting) bool { return s.Use&u == 0 })
}
