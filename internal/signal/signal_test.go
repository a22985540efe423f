package signal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/signal"
)

func TestFindNamesDestinationsAndCountsContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     signal.Signals
	}{
		{
			"a recipient and a body", `{"to":"Jo@Acme.example","body":"ask ann@acme.example or https://wiki.acme.example/x"}`,
			signal.Signals{Emails: []string{"jo@acme.example"}, Content: signal.Counts{Hosts: 1, Emails: 1}},
		},
		{
			"a URL gives its host, without user, port, path or query", `{"url":"https://bob:pw@API.acme.example.:8443/x?token=1"}`,
			signal.Signals{Hosts: []string{"api.acme.example"}},
		},
		{
			"a password in a database URL is no mail address", `{"database_url":"postgres://admin:hunter2@db.internal.example:5432/main"}`,
			signal.Signals{Hosts: []string{"db.internal.example"}},
		},
		{
			"nor is one with an at sign or a slash in it", `{"dsn":"mysql://root:p@ss@db.example/x","redisUrl":"redis://u:a/b@cache.example:6379"}`,
			signal.Signals{Hosts: []string{"cache.example", "db.example"}},
		},
		{"nor one without a scheme", `{"connection":"admin:hunter2@db.example"}`, signal.Signals{}},
		{
			"a bare host, with and without a port", `{"host":"db.internal.example","server":"mq:5672","endpoint":"localhost"}`,
			signal.Signals{Hosts: []string{"db.internal.example", "localhost", "mq"}},
		},
		{"several bare hosts", `{"bootstrap_servers":"k1.example:9092,k2.example:9092"}`, signal.Signals{Hosts: []string{"k1.example", "k2.example"}}},
		{"several hosts in a URL", `{"uri":"mongodb://u:p@m1.example:27017,m2.example:27017/db"}`, signal.Signals{Hosts: []string{"m1.example", "m2.example"}}},
		{
			"addresses of both kinds, in one spelling", `{"ip":"10.0.0.7","target":["2001:0DB8::0001","[fe80::1%25eth0]","[2001:db8::1]:443"],"url":"http://[::1]:80/"}`,
			signal.Signals{IPs: []string{"10.0.0.7", "2001:db8::1", "::1", "fe80::1"}},
		},
		{"an address in a sentence", `{"text":"ping 192.168.1.1, then 2001:db8::2."}`, signal.Signals{Content: signal.Counts{IPs: 2}}},
		{"versions, times, files and numbers are none of it", `{"host":"1.2.3","url":"v1.2.3.4.5","target":"report.pdf","to":"12:30:45","server":"main.go","dest":"3.14"}`, signal.Signals{}},
		{
			"routing holds for all below", `{"recipients":[{"name":"Jo","v":"jo@a.example"},[["ann@a.example"]]],"x":"bob@a.example"}`,
			signal.Signals{Emails: []string{"ann@a.example", "jo@a.example"}, Content: signal.Counts{Emails: 1}},
		},
		{
			"names in other spellings", `{"replyTo":"a@x.example","send_to":"b@x.example","webhookURL":"https://h.example/","SMTP_SERVER":"mail.example"}`,
			signal.Signals{Hosts: []string{"h.example", "mail.example"}, Emails: []string{"a@x.example", "b@x.example"}},
		},
		{
			"names that only sound so", `{"toolName":"a.example","customer":"b.example","total":"c.example","storage":"https://d.example","url_type":"e.example"}`,
			signal.Signals{Content: signal.Counts{Hosts: 1}},
		},
		{
			"escapes", `{"ur\u006c":"https:\/\/\u0061pi.example\/x","to":"J\u00f6@m\u00fcller.example"}`,
			signal.Signals{Hosts: []string{"api.example"}, Emails: []string{"jö@müller.example"}},
		},
		{
			"JSON in a string", `{"body":"{\"url\":\"https://in.example/\",\"note\":\"ann@x.example\"}"}`,
			signal.Signals{Hosts: []string{"in.example"}, Content: signal.Counts{Emails: 1}},
		},
		{"each once, sorted", `{"to":["b@x.example","a@x.example","B@x.example"]}`, signal.Signals{Emails: []string{"a@x.example", "b@x.example"}}},
		{"a mailto link", `{"href":"mailto:jo@x.example?subject=hi"}`, signal.Signals{Emails: []string{"jo@x.example"}}},
		{"a name with an address", `{"to":"Jo Doe <jo@x.example>, Ann <ann@x.example>"}`, signal.Signals{Emails: []string{"ann@x.example", "jo@x.example"}}},
		{"a cut text", `{"to":"jo@x.example","url":"https://a.exam`, signal.Signals{Hosts: []string{"a.exam"}, Emails: []string{"jo@x.example"}}},
		{"no JSON", `to: jo@x.example`, signal.Signals{Content: signal.Counts{Emails: 1}}},
		{"nothing", `{}`, signal.Signals{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, signal.Find([]byte(tt.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAHostThatCarriesAKeyIsKeptWithoutIt(t *testing.T) {
	t.Parallel()
	key := "gh" + "p_" + strings.Repeat("aB3dE6gH9", 4)
	got := signal.Find([]byte(`{"url":"https://` + key + `.evil.example/"}`))
	if text := fmt.Sprint(got); strings.Contains(strings.ToLower(text), strings.ToLower(key[8:])) || !strings.Contains(text, "evil.example") {
		t.Errorf("found %v", got)
	}
}

func TestManyDestinationsAreCut(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 5000 {
		list = append(list, fmt.Sprintf(`"u%04d@x.example"`, i))
	}
	got := signal.Find([]byte(`{"to":[` + strings.Join(list, ",") + `]}`))
	if len(got.Emails) != signal.MostValues || !got.Cut {
		t.Errorf("%d kept, cut %v", len(got.Emails), got.Cut)
	}
}

func TestHostileArgumentsTakeLinearTime(t *testing.T) {
	const size, part = 1 << 20, 16
	for _, piece := range []string{"[", `{"url":`, "://", "a@", "@", ":", ".", "1.", "::", "a:b@", `\u0041`, "https://a:b/", "a.b@c.d,", `{"to":"`, "x", "ü"} {
		for _, head := range []string{"", `{"to":"`} {
			find := func(size int) time.Duration {
				begun := time.Now()
				signal.Find([]byte(head + strings.Repeat(piece, size/len(piece))))
				return time.Since(begun)
			}
			short := find(size / part)
			// What were quadratic would take 256 times as long for 16 times the text.
			if took := find(size); took > 5*time.Second+3*part*short {
				t.Errorf("%d bytes of %q took %v, and a sixteenth %v", size, piece, took, short)
			}
		}
	}
}

// check holds for all arguments: what is found can be stored.
func check(t interface{ Fatalf(string, ...any) }, raw []byte) {
	got := signal.Find(raw)
	for _, list := range [][]string{got.Hosts, got.Emails, got.IPs} {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) || len(list) > signal.MostValues {
			t.Fatalf("%q gives %q", raw, list)
		}
		for _, v := range list {
			if safe, _ := redact.Text(v); safe != v {
				t.Fatalf("%q gives %q, which has a secret in it", raw, v)
			}
			if len(v) > 400 {
				t.Fatalf("%q gives a value of %d bytes", raw, len(v))
			}
		}
	}
	if _, err := json.Marshal(got); err != nil {
		t.Fatalf("%q gives %v: %v", raw, got, err)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		`{"to":"jo@acme.example","url":"https://a:b@c.example:8/x"}`, `{"ip":"::1","x":"10.0.0.1"}`, `{"dsn":"mysql://a:b/c@d.example"}`,
		`{"body":"{\"url\":\"x\"}"}`, `["\ud800@x.example"]`, `{"host":"[::1"}`, `{"to":"a@b@c.d"}`, `{"host":"a..b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, raw) })
}

func TestNoPasswordOfAURLIsADestination(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scheme := rapid.SampledFrom([]string{"postgres", "mysql", "redis", "amqp", "https", "mongodb+srv", "ftp"}).Draw(t, "scheme")
		marks := "@:!$&*+,;=.-_%"
		if scheme != "https" && scheme != "ftp" {
			marks += "/#?"
		}
		user := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "user")
		password := rapid.StringMatching(`[a-z]{3}[A-Za-z0-9`+strings.ReplaceAll(marks, "-", `\-`)+`]{0,12}q9z[a-z]{3}`).Draw(t, "password")
		key := rapid.SampledFrom([]string{"database_url", "url", "to", "note", "connection"}).Draw(t, "key")
		raw := []byte(`{"` + key + `":"` + scheme + `://` + user + `:` + password + `@db.acme.example:5432/main"}`)
		if got := fmt.Sprint(signal.Find(raw)); strings.Contains(got, "q9z") {
			t.Fatalf("%s gives %s", raw, got)
		}
		check(t, raw)
	})
}

func BenchmarkFind(b *testing.B) {
	raw := []byte(`{"to":["jo@acme.example"],"subject":"Figures","body":"` + strings.Repeat("The meeting is moved to Thursday, see https://wiki.acme.example/x or ask ann. ", 800) + `"}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if signal.Find(raw).Emails == nil {
			b.Fatal("found nothing")
		}
	}
}
