package setting

import (
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// input has files instead of a disk.
func input(use Use, files map[string]string, environ []string, flags ...string) Input {
	in := Input{Use: use, Flags: map[string]string{}, Environ: environ, DataFolder: "/data"}
	for _, one := range flags {
		name, value, _ := strings.Cut(one, "=")
		in.Flags[name] = value
	}
	in.Read = func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
	return in
}

func TestNothingGivenIsTheDefaults(t *testing.T) {
	t.Parallel()
	e, err := Read(input(Serving|Kept, nil, []string{"PATH=/bin", "DEED_HOME=/x", "DEED_LISTEN="}))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Data: "/data", Listen: "127.0.0.1:7373", WorkspaceName: "main", OwnerEmail: "owner@localhost",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		LogFormat:      "text", LogLevel: "info", ShutdownLimit: 20 * time.Second, RequestsPerSecond: 5000, Tracing: Tracing{Share: 1},
	}
	if diff := cmp.Diff(want, e.Config, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFlagGoesBeforeTheEnvironmentThatBeforeTheFileAndThatBeforeTheDefault(t *testing.T) {
	t.Parallel()
	files := map[string]string{"etc/deed.yaml": "# ours\nlisten: 127.0.0.1:1\nlog-format: json\nlog-level: warn\nshutdown-limit: 5s\n"}
	for _, one := range []struct {
		name, want string
		origin     Origin
		environ    []string
		flags      []string
	}{
		{"the file alone", "127.0.0.1:1", "etc/deed.yaml:2", nil, []string{"config=etc/deed.yaml"}},
		{"the file named by the environment", "127.0.0.1:1", "etc/deed.yaml:2", []string{"DEED_CONFIG=etc/deed.yaml"}, nil},
		{"the environment beside the file", "127.0.0.1:2", "DEED_LISTEN", []string{"DEED_LISTEN=127.0.0.1:2"}, []string{"config=etc/deed.yaml"}},
		{"all three", "127.0.0.1:3", "--listen", []string{"DEED_LISTEN=127.0.0.1:2"}, []string{"config=etc/deed.yaml", "listen=127.0.0.1:3"}},
		{"nothing", "127.0.0.1:7373", "default", nil, nil},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			e, err := Read(input(Serving|Kept, files, one.environ, one.flags...))
			if err != nil {
				t.Fatal(err)
			}
			if e.Config.Listen != one.want {
				t.Errorf("listen is %s, want %s", e.Config.Listen, one.want)
			}
			for _, row := range e.Rows() {
				if row.Setting.Name == "listen" && row.Origin != one.origin {
					t.Errorf("it is said to be from %s, want %s", row.Origin, one.origin)
				}
			}
		})
	}
}

func TestWhatIsWrongIsToldWithWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, file string
		environ    []string
		flags      []string
		want, hint string
	}{
		{name: "a misspelt key", file: "log-format: json\nlisen: 127.0.0.1:1\n", want: `c.yaml:2: there is no setting "lisen"`, hint: "did you mean listen?"},
		{name: "a key like no other", file: "zzz: 1\n", want: `c.yaml:1: there is no setting "zzz"`, hint: "settings: data, database,"},
		{name: "a key twice", file: "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", want: "c.yaml:2: "},
		{name: "no YAML", file: "a: [1\n", want: "c.yaml:1: it is no YAML"},
		{name: "a list", file: "- a\n", want: "c.yaml:1: a setting is written as name: value"},
		{name: "two documents", file: "log-format: json\n---\nlog-level: warn\n", want: "there are several documents"},
		{name: "a mapping as a value", file: "listen: {host: a}\n", want: "c.yaml:1: listen: it is neither a value nor a list"},
		{name: "a key without a value", file: "listen:\n", want: "c.yaml:1: listen: it has no value"},
		{name: "a file that names a file", file: "config: x.yaml\n", want: "c.yaml:1: ", hint: "--config"},
		{name: "a misspelt variable", environ: []string{"DEED_LISTN=127.0.0.1:1"}, want: "DEED_LISTN: there is no such setting", hint: "did you mean DEED_LISTEN?"},
		{name: "no port", flags: []string{"listen=localhost"}, want: `--listen: "localhost" is no host and port`},
		{name: "a port too high", environ: []string{"DEED_LISTEN=127.0.0.1:65536"}, want: "DEED_LISTEN: "},
		{name: "no span", flags: []string{"shutdown-limit=20"}, want: `"20" is no span of time`},
		{name: "half a request", flags: []string{"requests-per-second=0.5"}, want: `"0.5" is no whole number from 0 to 1000000`},
		{name: "fewer requests than none", flags: []string{"requests-per-second=-1"}, want: "is no whole number"},
		{name: "a negative span", flags: []string{"shutdown-limit=-1s"}, want: "is no span of time"},
		{name: "an unknown word", flags: []string{"log-format=xml"}, want: `"xml" is none of text, json`},
		{name: "a switch that is neither", file: "behind-proxy: maybe\n", want: `"maybe" is neither true nor false`},
		{name: "another database", environ: []string{"DEED_DATABASE=mysql://h/d"}, want: `there is no database "mysql"`},
		{name: "a network that is none", flags: []string{"trusted-proxies=10.0.0.0/40"}, want: `"10.0.0.0/40" is no network`},
		{name: "a password as an argument", flags: []string{"database=postgres://u:hush@h/d", "secret-file=s"}, want: "--database: everybody on this machine can read", hint: "DEED_DATABASE"},
		{name: "a password in the query as an argument", flags: []string{"database=postgres://h/d?sslpassword=hush", "secret-file=s"}, want: "everybody on this machine can read"},
		{name: "a database without a secret", flags: []string{"database=postgres://u@h/d"}, want: "secret-file: with a database of its own", hint: "deed secret new"},
		{name: "plain HTTP beyond this machine", flags: []string{"listen=0.0.0.0:80", "public-url=https://d.example.com"}, want: "--listen: plain HTTP beyond this machine", hint: "--tls-cert"},
		{name: "no public URL beyond this machine", flags: []string{"listen=:443", "tls-cert=c", "tls-key=k"}, want: "public-url: it must be said", hint: "--public-url"},
		{name: "no public URL behind a proxy", flags: []string{"behind-proxy=true"}, want: "public-url: it must be said"},
		{name: "a plain public URL", flags: []string{"public-url=http://d.example.com"}, want: "plain HTTP to another machine"},
		{name: "a public URL with a path", flags: []string{"public-url=https://d.example.com/deed"}, want: "more than a scheme and a host"},
		{name: "a certificate alone", flags: []string{"tls-cert=c"}, want: "a certificate without its key"},
		{name: "a key alone", flags: []string{"tls-key=c"}, want: "a key without its certificate"},
		{name: "TLS twice", flags: []string{"tls-cert=c", "tls-key=k", "behind-proxy=true", "public-url=https://d"}, want: "either the server ends TLS or a proxy"},
		{name: "a file that is not there", environ: []string{"DEED_CONFIG=none.yaml"}, want: "read none.yaml: file does not exist"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			flags := one.flags
			if one.file != "" {
				flags = append(flags, "config=c.yaml")
			}
			_, err := Read(input(Serving|Kept, map[string]string{"c.yaml": one.file}, one.environ, flags...))
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want a problem", err)
			}
			for _, p := range problems {
				if strings.Contains(p.Error(), one.want) && strings.Contains(p.Hint, one.hint) {
					return
				}
			}
			t.Errorf("got %v with hint %q, want %q with %q", err, problems[0].Hint, one.want, one.hint)
		})
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Read(input(Serving|Kept, map[string]string{"c.yaml": "lisen: a\nlog-level: loud\n"}, []string{"DEED_SHUTDOWN_LIMIT=x"}, "config=c.yaml"))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Errorf("got %v, want 3 problems", err)
	}
}

func TestNoErrorAndNoShownSettingHasAPasswordInIt(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"postgres://u:hush@h/d", "postgres://u@h/d?password=hush", "postgres://u@h/d?sslmode=require&sslpassword=hush",
		"mysql://u:hush@h/d", "postgres://u:hush%zz@h/d", "://u:hush@", "postgres://u:hush@h:port/d",
	} {
		for _, in := range []Input{
			input(Serving|Kept, nil, []string{"DEED_DATABASE=" + value}, "secret-file=s"),
			input(Serving|Kept, nil, nil, "database="+value, "secret-file=s"),
			input(Kept, map[string]string{"c.yaml": "database: '" + value + "'\nsecret-file: s\n"}, nil, "config=c.yaml"),
			input(Kept, map[string]string{"c.yaml": "database: '" + value + "\nsecret-file: s\n"}, nil, "config=c.yaml"),
			input(Kept, map[string]string{"c.yaml": "database: {" + value + "}\n"}, nil, "config=c.yaml"),
			input(Kept, map[string]string{"c.yaml": "database: \"\\q" + value + "\"\n"}, nil, "config=c.yaml"),
			input(Kept, map[string]string{"c.yaml": value + "\n"}, nil, "config=c.yaml"),
			input(Kept, map[string]string{"c.yaml": "database: @" + value + "\n"}, nil, "config=c.yaml"),
		} {
			e, err := Read(in)
			shown := e.Show()
			if err != nil {
				shown += err.Error()
			}
			if strings.Contains(shown, "hush") {
				t.Errorf("%s shows its password in %s", value, shown)
			}
		}
	}
}

func TestTheValueItselfKeepsItsPassword(t *testing.T) {
	t.Parallel()
	e, err := Read(input(Kept, nil, []string{"DEED_DATABASE=postgres://u:hush@h/d"}, "secret-file=s"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Config.Database != "postgres://u:hush@h/d" {
		t.Errorf("the database is %q", e.Config.Database)
	}
}

func TestRelativePathsInTheFileLieBesideIt(t *testing.T) {
	t.Parallel()
	files := map[string]string{"etc/deed.yaml": "data: data\nsecret-file: /run/secret\n"}
	e, err := Read(input(Serving|Kept, files, []string{"DEED_TLS_CERT=c", "DEED_TLS_KEY=k"}, "config=etc/deed.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{e.Config.Data, e.Config.SecretFile, e.Config.TLSCert}
	want := []string{"etc/data", "/run/secret", "c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestACommandThatOnlyOpensTheStoreReadsTheServersFileWithoutItsSettings(t *testing.T) {
	t.Parallel()
	files := map[string]string{"c.yaml": "data: /d\nlisten: 0.0.0.0:80\n"}
	e, err := Read(input(Kept, files, []string{"DEED_LISTEN=nonsense"}, "config=c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Config.Data != "/d" || e.Config.Listen != "" {
		t.Errorf("got data %q and listen %q", e.Config.Data, e.Config.Listen)
	}
}

func TestWhatIsShownCanBeReadAgain(t *testing.T) {
	t.Parallel()
	first, err := Read(input(Serving|Kept, nil, []string{"DEED_WORKSPACE_NAME=it's # ours: yes"}, "listen=[::1]:80", "trusted-proxies=10.0.0.0/8, ::1", "data=/a b"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Read(input(Serving|Kept, map[string]string{"c.yaml": first.Show()}, nil, "config=c.yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, first.Show())
	}
	if diff := cmp.Diff(first.Config, second.Config, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("(-shown +read):\n%s\n%s", diff, first.Show())
	}
}

func TestLoopbackIsThisMachineAndNothingElse(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1:7373": true, "127.9.9.9:1": true, "[::1]:80": true, "::1": true, "localhost:80": true, "LOCALHOST": true, "[::ffff:127.0.0.1]:1": true,
		":7373": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "example.com:80": false, "localhost.example.com": false, "": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("Loopback(%q) is %v", host, got)
		}
	}
}

func TestAFileWithAPasswordInItIsNamed(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"with.yaml":    "database: postgres://u:hush@h/d\nsecret-file: s\n",
		"without.yaml": "database: postgres://u@h/d\nsecret-file: s\n",
	}
	for name, want := range map[string]string{"with.yaml": "with.yaml", "without.yaml": ""} {
		e, err := Read(input(Kept, files, nil, "config="+name))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.SecretIn(); got != want {
			t.Errorf("%s: %q is said to hold a secret", name, got)
		}
	}
	e, err := Read(input(Kept, files, []string{"DEED_DATABASE=postgres://u:hush@h/d"}, "config=without.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.SecretIn(); got != "" {
		t.Errorf("a password in the environment is said to be in %q", got)
	}
}

func TestWithoutAPlaceForDataOneMustBeNamed(t *testing.T) {
	t.Parallel()
	in := input(Serving|Kept, nil, nil)
	in.DataFolder = ""
	_, err := Read(in)
	if err == nil || !strings.Contains(err.Error(), "data: ") {
		t.Errorf("got %v", err)
	}
}

func TestWhatHoldsIsShownBesideWhatIsWrong(t *testing.T) {
	t.Parallel()
	e, err := Read(input(Serving|Kept, nil, []string{"DEED_SHUTDOWN_LIMIT=soon\x1b[2J", "DEED_LOG_LEVEL=debug", "DEED_DATABASE=mysql://u@h/d"}))
	if problems, is := errors.AsType[Problems](err); !is || len(problems) != 2 {
		t.Fatalf("%v", err)
	}
	shown := strings.Join(strings.Fields(e.Show()), " ")
	for _, want := range []string{
		"log-level: debug # DEED_LOG_LEVEL ",
		"listen: 127.0.0.1:7373 # default ",
		`# shutdown-limit: "soon\x1b[2J" # DEED_SHUTDOWN_LIMIT, which makes no sense`,
		"# database: # DEED_DATABASE, which makes no sense", // it may hold a password, wherever that begins
	} {
		if !strings.Contains(shown+" ", want) {
			t.Errorf("%s\nis not in\n%s", want, e.Show())
		}
	}
}
