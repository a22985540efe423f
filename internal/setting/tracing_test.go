package setting

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTracingIsWhatTheSettingsSayAndElseWhatTheStandardSays(t *testing.T) {
	t.Parallel()
	const here = "OTEL_EXPORTER_OTLP_ENDPOINT=http://c.test:4318"
	for _, one := range []struct {
		name    string
		file    string
		environ []string
		flags   []string
		want    Tracing
	}{
		{name: "nothing", want: Tracing{Share: 1}},
		{
			name: "settings", flags: []string{"otlp-endpoint=https://c.test/otlp/", "trace-sample=0.25"}, environ: []string{"DEED_OTLP_HEADERS=x-api-key=a%2Cb%3D, X-Scope-OrgID = 7 "},
			want: Tracing{Endpoint: "https://c.test/otlp/v1/traces", Share: 0.25, Headers: map[string]string{"X-Api-Key": "a,b=", "X-Scope-Orgid": "7"}},
		},
		{name: "the whole URL", flags: []string{"otlp-endpoint=http://127.0.0.1:4318/v1/traces"}, want: Tracing{Endpoint: "http://127.0.0.1:4318/v1/traces", Share: 1}},
		{name: "headers in a file", file: "otlp-endpoint: http://c.test\notlp-headers: [a=1, 'authorization=Bearer x']\ntrace-sample: 0\n", want: Tracing{Endpoint: "http://c.test/v1/traces", Headers: map[string]string{"A": "1", "Authorization": "Bearer x"}}},
		{name: "the standard's collector", environ: []string{here}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 1}},
		{name: "with a path", environ: []string{here + "/otlp/"}, want: Tracing{Endpoint: "http://c.test:4318/otlp/v1/traces", Share: 1}},
		{name: "its own for traces, as it stands", environ: []string{here, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t.test/x"}, want: Tracing{Endpoint: "http://t.test/x", Share: 1}},
		{name: "its own for traces, without a path", environ: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t.test"}, want: Tracing{Endpoint: "http://t.test/", Share: 1}},
		{name: "ours goes before the standard's", environ: []string{here, "DEED_OTLP_ENDPOINT=http://ours.test"}, want: Tracing{Endpoint: "http://ours.test/v1/traces", Share: 1}},
		{name: "and so does the file", file: "otlp-endpoint: http://ours.test\ntrace-sample: 0.5\n", environ: []string{here, "OTEL_TRACES_SAMPLER=always_off"}, want: Tracing{Endpoint: "http://ours.test/v1/traces", Share: 0.5}},
		{
			name: "the standard's headers and words", environ: []string{
				here, "OTEL_EXPORTER_OTLP_HEADERS=a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=b=2", "OTEL_SERVICE_NAME=verifier", "OTEL_RESOURCE_ATTRIBUTES=team=payments,deployment.environment.name=a%20b",
			},
			want: Tracing{
				Endpoint: "http://c.test:4318/v1/traces", Share: 1, Headers: map[string]string{"B": "2"}, Service: "verifier",
				Attributes: map[string]string{"team": "payments", "deployment.environment.name": "a b"},
			},
		},
		{name: "all", environ: []string{here, "OTEL_TRACES_SAMPLER=always_on"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 1, IgnoreParent: true}},
		{name: "none", environ: []string{here, "OTEL_TRACES_SAMPLER=always_off"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", IgnoreParent: true}},
		{name: "a share", environ: []string{here, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.1"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 0.1, IgnoreParent: true}},
		{name: "a share below a parent", environ: []string{here, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.1"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 0.1}},
		{name: "a share that is not said", environ: []string{here, "OTEL_TRACES_SAMPLER=parentbased_traceidratio"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 1}},
		{name: "only what is recorded elsewhere", environ: []string{here, "OTEL_TRACES_SAMPLER=parentbased_always_off"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces"}},
		{name: "switched off", environ: []string{here, "OTEL_SDK_DISABLED=true"}, want: Tracing{Share: 1}},
		{name: "sent another way", environ: []string{here, "OTEL_TRACES_EXPORTER=none"}, want: Tracing{Share: 1}},
		{name: "sent this way", environ: []string{here, "OTEL_TRACES_EXPORTER=otlp"}, want: Tracing{Endpoint: "http://c.test:4318/v1/traces", Share: 1}},
		{name: "for other programs", environ: []string{"OTEL_TRACES_SAMPLER=jaeger_remote", "OTEL_EXPORTER_OTLP_HEADERS=nonsense", "OTEL_RESOURCE_ATTRIBUTES=nonsense"}, want: Tracing{Share: 1}},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			flags := one.flags
			if one.file != "" {
				flags = append(flags, "config=c.yaml")
			}
			e, err := Read(input(Serving|Kept, map[string]string{"c.yaml": one.file}, one.environ, flags...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(one.want, e.Config.Tracing); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// hush stands for a secret in what follows.
func TestWhatIsWrongWithTracingIsToldWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	const here = "DEED_OTLP_ENDPOINT=http://c.test"
	for _, one := range []struct {
		name, file string
		environ    []string
		flags      []string
		want       string
	}{
		{name: "no URL", environ: []string{"DEED_OTLP_ENDPOINT=hush"}, want: "DEED_OTLP_ENDPOINT: it is no URL"},
		{name: "another scheme", environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=grpc://hush:4317"}, want: "OTEL_EXPORTER_OTLP_ENDPOINT: it is no URL"},
		{name: "no scheme", environ: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=hush:4318"}, want: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: it is no URL"},
		{name: "a password in the URL", flags: []string{"otlp-endpoint=https://u:hush@c.test"}, want: "--otlp-endpoint: it has more than"},
		{name: "a key in the URL", file: "otlp-endpoint: https://c.test/?key=hush\n", want: "c.yaml:1: otlp-endpoint: it has more than"},
		{name: "headers on the command line", flags: []string{"otlp-endpoint=http://c.test", "otlp-headers=a=hush"}, want: "--otlp-headers: everybody on this machine can read"},
		{name: "a header without a value", environ: []string{here, "DEED_OTLP_HEADERS=a=1,hush"}, want: "DEED_OTLP_HEADERS: number 2 of the list is not written as name=value"},
		{name: "a header without a name", environ: []string{here, "DEED_OTLP_HEADERS==hush"}, want: "number 1 of the list"},
		{name: "a header that is badly encoded", environ: []string{here, "OTEL_EXPORTER_OTLP_HEADERS=a=hush%zz"}, want: "OTEL_EXPORTER_OTLP_HEADERS: number 1 of the list is not percent-encoded"},
		{name: "a header with a line end", environ: []string{here, "DEED_OTLP_HEADERS=a=hush%0D%0Ab: c"}, want: "the value of A has a control character"},
		{name: "a name that is none", environ: []string{here, "DEED_OTLP_HEADERS=hush hush=1"}, want: "one of the names is no name of a header"},
		{name: "a header of the protocol", environ: []string{here, "DEED_OTLP_HEADERS=content-type=hush"}, want: "Content-Type is not for settings"},
		{name: "a header twice", environ: []string{here, "DEED_OTLP_HEADERS=a=hush,A=hush"}, want: "A is there twice"},
		{name: "a comma in a list", file: "otlp-endpoint: http://c.test\notlp-headers: ['a=hush,hush']\n", want: "c.yaml:2: otlp-headers: an element of a list cannot hold a comma"},
		{name: "a share above all", environ: []string{"DEED_TRACE_SAMPLE=1.5"}, want: `DEED_TRACE_SAMPLE: "1.5" is no number from 0 to 1`},
		{name: "a share below none", flags: []string{"trace-sample=-0.1"}, want: "is no number from 0 to 1"},
		{name: "a share that is none", flags: []string{"trace-sample=NaN"}, want: "is no number from 0 to 1"},
		{name: "the standard's share", environ: []string{here, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=all"}, want: `OTEL_TRACES_SAMPLER_ARG: "all" is no number from 0 to 1`},
		{name: "a sampler that is not there", environ: []string{here, "OTEL_TRACES_SAMPLER=jaeger_remote"}, want: `OTEL_TRACES_SAMPLER: there is no sampler "jaeger_remote" here`},
		{name: "words that are none", environ: []string{here, "OTEL_RESOURCE_ATTRIBUTES=a=1,hush"}, want: "OTEL_RESOURCE_ATTRIBUTES: number 2 of the list"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			flags := one.flags
			if one.file != "" {
				flags = append(flags, "config=c.yaml")
			}
			e, err := Read(input(Serving|Kept, map[string]string{"c.yaml": one.file}, one.environ, flags...))
			var problems Problems
			if !errors.As(err, &problems) || len(problems) != 1 || !strings.Contains(problems[0].Error(), one.want) {
				t.Fatalf("got %v, want %q", err, one.want)
			}
			if text := err.Error() + problems[0].Hint + e.Show(); strings.Contains(text, "hush") {
				t.Errorf("a secret is shown: %s", text)
			}
		})
	}
}

func TestHeadersForTheCollectorAreNeverShown(t *testing.T) {
	t.Parallel()
	files := map[string]string{"c.yaml": "otlp-endpoint: http://c.test\notlp-headers: a=hush\n"}
	for name, in := range map[string]Input{
		"c.yaml":                     input(Serving|Kept, files, nil, "config=c.yaml"),
		"DEED_OTLP_HEADERS":          input(Serving|Kept, nil, []string{"DEED_OTLP_ENDPOINT=http://c.test", "DEED_OTLP_HEADERS=a=hush"}),
		"OTEL_EXPORTER_OTLP_HEADERS": input(Serving|Kept, nil, []string{"DEED_OTLP_ENDPOINT=http://c.test", "OTEL_EXPORTER_OTLP_HEADERS=a=hush"}),
	} {
		e, err := Read(in)
		if err != nil {
			t.Fatal(err)
		}
		if shown := e.Show(); strings.Contains(shown, "hush") || !strings.Contains(shown, "otlp-headers: [HIDDEN]") || !strings.Contains(shown, name) {
			t.Errorf("from %s it shows\n%s", name, shown)
		}
		if e.Config.Tracing.Headers["A"] != "hush" {
			t.Errorf("the headers are %v", e.Config.Tracing.Headers)
		}
		if got, want := e.SecretIn() != "", name == "c.yaml"; got != want {
			t.Errorf("that a file with secrets is in use is said to be %v", got)
		}
	}
}
