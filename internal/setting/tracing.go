package setting

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tracing is where traces go, and which.
type Tracing struct {
	Endpoint string // the whole URL that they are posted to; empty: nothing is traced
	Headers  map[string]string
	Share    float64 // of the traces that begin here, from 0 to 1
	// IgnoreParent has the share decide on traces that begin elsewhere too.
	IgnoreParent bool
	// Service and Attributes describe the process. They have no setting of their own,
	// only the variables of the standard.
	Service    string
	Attributes map[string]string
}

// tracesPath is where a collector takes traces.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
const tracesPath = "/v1/traces"

// collector reads the URL of a collector.
func collector(c *Config, value string) error {
	u, err := collectorURL(value)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u.Path = strings.TrimSuffix(u.Path, "/") + tracesPath
	}
	c.Tracing.Endpoint = u.String()
	return nil
}

// collectorAsItStands reads the URL to which traces are posted.
func collectorAsItStands(c *Config, value string) error {
	u, err := collectorURL(value)
	if err != nil {
		return err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	c.Tracing.Endpoint = u.String()
	return nil
}

// collectorURL reads a URL that may be told in a log. What is wrong with it is told
// without it, because it may hold a key.
func collectorURL(value string) (*url.URL, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it is no URL, as http://127.0.0.1:4318 is")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has more than a scheme, a host and a path; what the collector wants to know goes into otlp-headers")
	}
	return u, nil
}

// ourHeaders say what is sent and where, and are not for settings.
var ourHeaders = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Transfer-Encoding"}

func collectorHeaders(c *Config, value string) error {
	pairs, err := pairsOf(value)
	if err != nil {
		return err
	}
	headers := map[string]string{}
	for _, pair := range pairs {
		name := textproto.CanonicalMIMEHeaderKey(pair[0])
		_, twice := headers[name]
		switch {
		case strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "":
			return errors.New("one of the names is no name of a header")
		case strings.ContainsFunc(pair[1], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fmt.Errorf("the value of %s has a control character in it", name)
		case slices.Contains(ourHeaders, name):
			return fmt.Errorf("%s is not for settings", name)
		case twice:
			return fmt.Errorf("%s is there twice", name)
		}
		headers[name] = pair[1]
	}
	c.Tracing.Headers = headers
	return nil
}

// pairsOf reads a list of name=value, percent-encoded. What is wrong is told without
// the values, which may be secrets.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
func pairsOf(value string) ([][2]string, error) {
	var pairs [][2]string
	for i, one := range split(value) {
		name, text, found := strings.Cut(one, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return nil, fmt.Errorf("number %d of the list is not written as name=value", i+1)
		}
		decoded, err := url.PathUnescape(strings.TrimSpace(text))
		if err != nil || !utf8.ValidString(decoded) || !utf8.ValidString(name) {
			return nil, fmt.Errorf("number %d of the list is not percent-encoded as it should be", i+1)
		}
		pairs = append(pairs, [2]string{name, decoded})
	}
	return pairs, nil
}

func traceShare(c *Config, value string) error {
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share >= 0 && share <= 1) { // which NaN is not
		return fmt.Errorf("%q is no number from 0 to 1", value)
	}
	c.Tracing.Share, c.Tracing.IgnoreParent = share, false
	return nil
}

// variable is a variable of the environment. An empty one counts as absent.
func (in Input) variable(name string) string {
	value := ""
	for _, line := range in.Environ {
		if n, v, _ := strings.Cut(line, "="); n == name {
			value = v
		}
	}
	return value
}

// standards finds what settings are absent and have a variable of a standard: of
// tracing, and only if there is somewhere to send traces to. Programs beside this
// one may have the variables for themselves.
func standards(in Input, settings []Setting, found map[string]given) {
	for _, s := range settings { // the endpoint comes first
		if g, there := found[s.Name]; s.standard == nil || there && g.origin != byDefault {
			continue
		}
		if g, there := s.standard(in.variable); there {
			found[s.Name] = g
		}
		if _, on := found["otlp-endpoint"]; !on {
			return
		}
	}
}

// standardCollector is the collector by the variables of OpenTelemetry.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp
func standardCollector(variable func(string) string) (given, bool) {
	exporters := variable("OTEL_TRACES_EXPORTER")
	if strings.EqualFold(variable("OTEL_SDK_DISABLED"), "true") || exporters != "" && !slices.Contains(split(exporters), "otlp") {
		return given{}, false
	}
	if value := variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); value != "" {
		return given{value: value, origin: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", into: collectorAsItStands}, true
	}
	value := variable("OTEL_EXPORTER_OTLP_ENDPOINT")
	return given{value: value, origin: "OTEL_EXPORTER_OTLP_ENDPOINT", into: func(c *Config, value string) error {
		u, err := collectorURL(value)
		if err != nil {
			return err
		}
		c.Tracing.Endpoint = u.JoinPath(tracesPath).String()
		return nil
	}}, value != ""
}

func standardHeaders(variable func(string) string) (given, bool) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"} {
		if value := variable(name); value != "" {
			return given{value: value, origin: Origin(name)}, true
		}
	}
	return given{}, false
}

// standardSampler is the share by the variables of OpenTelemetry.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
func standardSampler(variable func(string) string) (given, bool) {
	name, origin := variable("OTEL_TRACES_SAMPLER"), Origin("OTEL_TRACES_SAMPLER")
	if name == "" {
		return given{}, false
	}
	kind, parent := strings.CutPrefix(name, "parentbased_")
	share := ""
	switch kind {
	case "always_on":
		share = "1"
	case "always_off":
		share = "0"
	case "traceidratio":
		if share = variable("OTEL_TRACES_SAMPLER_ARG"); share == "" {
			share = "1"
		} else {
			origin = "OTEL_TRACES_SAMPLER_ARG"
		}
	default:
		return given{value: name, origin: origin, into: func(*Config, string) error {
			return fmt.Errorf("there is no sampler %q here; there are always_on, always_off and traceidratio, and the same behind parentbased_", name)
		}}, true
	}
	return given{value: share, origin: origin, into: func(c *Config, value string) error {
		err := traceShare(c, value)
		c.Tracing.IgnoreParent = !parent
		return err
	}}, true
}

// describe reads what the variables of OpenTelemetry say of this process.
func (t *Tracing) describe(variable func(string) string) Problems {
	t.Service = variable("OTEL_SERVICE_NAME")
	const attributes = "OTEL_RESOURCE_ATTRIBUTES"
	pairs, err := pairsOf(variable(attributes))
	if err != nil {
		return Problems{{Origin: attributes, Message: err.Error(), Hint: "for example: " + attributes + "=deployment.environment.name=staging,team=payments"}}
	}
	if len(pairs) > 0 {
		t.Attributes = map[string]string{}
	}
	for _, pair := range pairs {
		t.Attributes[pair[0]] = pair[1]
	}
	return nil
}
