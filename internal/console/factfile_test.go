package console

import (
	"errors"
	"io"
	"strings"
	"testing"
)

const bankMapping = `
source: bank
type: refund.succeeded
external_id: "{id}"
occurred_at: "{booked}"
time_layout: "2006-01-02 15:04"
zone: Europe/Berlin
subject_id: "{order}"
refs: {idempotency_key: "{reference}"}
attrs:
  amount: {amount: "{value}", currency: "{currency}"}
  lines: {number: "{n}"}
  note: "by {who}"
comma: ";"
`

func all(t *testing.T, f *FactFile, err error) (facts []string, lines []int, last error) {
	t.Helper()
	if err != nil {
		return nil, nil, err
	}
	for {
		fact, line, err := f.Next()
		if err == io.EOF {
			return facts, lines, nil
		}
		if err != nil {
			return facts, lines, err
		}
		facts, lines = append(facts, string(fact)), append(lines, line)
	}
}

func TestARowBecomesAFactDigitForDigit(t *testing.T) {
	t.Parallel()
	m, err := ParseCSVMapping("bank.map.yaml", []byte(bankMapping))
	if err != nil {
		t.Fatal(err)
	}
	f, err := CSV("bank.csv", strings.NewReader("\ufeffid;booked;order;reference;value;currency;n;who\n"+
		"b1;2026-07-01 12:00;o-1;refund:1;180.00;EUR;12345678901234567890;Ada\n"+
		"\"b;2\";2026-01-01 12:00;;;;;;\n"), m)
	facts, lines, err := all(t, f, err)
	if err != nil {
		t.Fatal(err)
	}
	// Berlin is two hours ahead of UTC in July and one in January.
	want := []string{
		`{"attrs":{"amount":{"amount":"180.00","currency":"EUR"},"lines":12345678901234567890,"note":"by Ada"},"external_id":"b1","occurred_at":"2026-07-01T10:00:00Z","refs":{"idempotency_key":"refund:1"},"source":"bank","subject_id":"o-1","type":"refund.succeeded"}`,
		`{"external_id":"b;2","occurred_at":"2026-01-01T11:00:00Z","source":"bank","type":"refund.succeeded"}`,
	}
	for i := range want {
		if facts[i] != want[i] {
			t.Errorf("row %d is\n%s, want\n%s", i, facts[i], want[i])
		}
	}
	if lines[0] != 2 || lines[1] != 3 {
		t.Errorf("lines %v, want 2 and 3", lines)
	}
}

func TestWhatIsWrongWithAFileIsToldByItsLine(t *testing.T) {
	t.Parallel()
	m, err := ParseCSVMapping("bank.map.yaml", []byte(bankMapping))
	if err != nil {
		t.Fatal(err)
	}
	const heading = "id;booked;order;reference;value;currency;n;who\n"
	for text, want := range map[string]string{
		"id;bookd;order;reference;value;currency;n;who\n":                       `bank.csv:1: the mapping names the column "booked", which is not there; did you mean "bookd"?`,
		heading + "b1;2026-07-01 12:00;;;1;EUR;1;x\nb2;yesterday;;;1;EUR;1;x\n": `bank.csv:3: occurred_at: "yesterday" is no time in the layout 2006-01-02 15:04 (time_layout in the mapping)`,
		heading + "b1;2026-07-01 12:00;;;1,50;EUR;1;x\n":                        `bank.csv:2: attrs.amount: "1,50" is no amount such as 180.00`,
		heading + "b1;2026-07-01 12:00\n":                                       `bank.csv:2: wrong number of fields`,
		"id;id\n":                                                               `bank.csv:1: the column "id" is there twice`,
	} {
		f, err := CSV("bank.csv", strings.NewReader(text), m)
		if _, _, err = all(t, f, err); err == nil || err.Error() != want {
			t.Errorf("%q gives\n%v, want\n%s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{\"a\":1}\n\n[1]\n":       "f.jsonl:3: a line must be a JSON object, which begins with {",
		"{\"a\":1}\n{\"a\":1} x\n": "f.jsonl:2: there is something after the JSON object",
		"{\"a\":1,\"a\":2}\n":      "f.jsonl:1: this is not JSON",
		"{\"a\":\n":                "f.jsonl:1: this is not JSON",
		strings.Repeat("x", 2<<20): "f.jsonl:1: the line is longer than 1048576 bytes",
	} {
		_, _, err := all(t, JSONLines("f.jsonl", strings.NewReader(text)), nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, new(*LineError)) {
			t.Errorf("%.30q gives %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"source: bank\ntype: x\nexternal_id: y\n":                            "m.yaml: the key occurred_at is missing",
		bankMapping + "sorce: x\n":                                           "unknown field",
		strings.Replace(bankMapping, "Europe/Berlin", "Europe/Atlantis", 1):  `m.yaml: there is no zone "Europe/Atlantis"`,
		strings.Replace(bankMapping, `{number: "{n}"}`, `{numbr: "{n}"}`, 1): "m.yaml: attrs.lines: is neither a template",
		strings.Replace(bankMapping, `comma: ";"`, `comma: ";;"`, 1):         "m.yaml: comma is one character",
	} {
		if _, err := ParseCSVMapping("m.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
