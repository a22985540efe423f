package verdict

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

var update = flag.Bool("update", false, "write the golden files and the generated pages anew")

// The golden file is read in review; what makes it right is checked by the
// tests beside this one, so that a change of the form is never an accident.
func TestTheFormDoesNotChangeByAccident(t *testing.T) {
	t.Parallel()
	golden(t, "case.json", refundCase(t).AppendJSON(nil))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// encoding/json sorts the names of maps and keeps numbers as they came, so that
// its output is the canonical form of whatever it read.
func TestACaseAndAVerdictAreCanonicalJSON(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{
		"the refund":       refundCase(t).AppendJSON(nil),
		"a full case":      fullCase(t).AppendJSON(nil),
		"a full verdict":   fullVerdict(t).AppendJSON(nil),
		"an empty verdict": new(Verdict).AppendJSON(nil),
	} {
		if sorted := resort(t, text); !bytes.Equal(sorted, text) {
			t.Errorf("%s is not written in its canonical form:\n%s", name, cmp.Diff(string(sorted), string(text)))
		}
	}
}

func resort(t *testing.T, text []byte) []byte {
	t.Helper()
	var any any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&any); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var sorted bytes.Buffer
	encoder := json.NewEncoder(&sorted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(any); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(sorted.Bytes(), []byte("\n"))
}

func TestTextsAreEscapedAsLittleAsJSONAllows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                 `""`,
		"o-1001":           `"o-1001"`,
		`a "b" \ c / d`:    `"a \"b\" \\ c / d"`,
		"\b\t\n\f\r":       `"\b\t\n\f\r"`,
		"\x00\x1f\x7f":     `"\u0000\u001f` + "\x7f" + `"`,
		"<&>\u2028é€𝄞":     `"<&>` + "\u2028" + `é€𝄞"`,
		"not UTF-8: \xff.": `"not UTF-8: ` + "\uFFFD" + `."`,
	} {
		if got := string(appendText(nil, text)); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func TestDecimalsKeepTheDecimalsTheyCameWith(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0.00", "180": "180", "180.00": "180.00", "-0.5": "-0.5", "0.05": "0.05",
		"-12.345": "-12.345", "1.8e2": "180", "1.80e1": "18.0", "5e-3": "0.005", "1e20": "100000000000000000000",
		"999999999999999999": "999999999999999999", "-99999999999999999999.99": "-99999999999999999999.99",
		"0.000000000000000001": "0.000000000000000001", "0.0000000000000000001": "0.0000000000000000001",
	} {
		d, err := money.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendDecimal(nil, d)); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
}

func TestTheShortWayToWriteADecimalGivesWhatTheLongOneDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?`).Draw(t, "number")
		d, err := money.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(appendDecimal(nil, d)), money.Text(d); got != want {
			t.Fatalf("%s is written %s, want %s", text, got, want)
		}
	})
}

func TestAResolutionIsWrittenInTheCoarsestUnitThatIsWhole(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Second: `"1s"`, 24 * time.Hour: `"86400s"`, 1500 * time.Millisecond: `"1500ms"`,
		time.Millisecond: `"1ms"`, 20 * time.Microsecond: `"20us"`, 1500 * time.Nanosecond: `"1500ns"`,
	} {
		got := string(appendResolution(nil, evidence.Resolution(d)))
		if got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
		var back evidence.Resolution
		if err := back.UnmarshalText(bytes.Trim([]byte(got), `"`)); err != nil || time.Duration(back) != d {
			t.Errorf("%s is read as %v, %v", got, time.Duration(back), err)
		}
	}
}

// The order in which facts, sources and all else came must not show.
func TestTheOrderOfArrivalDoesNotShowInTheDigest(t *testing.T) {
	t.Parallel()
	c := fullCase(t)
	// Two contents of one revision differ in nothing that orders them.
	twin := c.Facts[0]
	twin.SubjectID = "another"
	c.Facts = append(c.Facts, twin)
	want := c.AppendJSON(nil)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		shuffle(random, c.Facts)
		shuffle(random, c.Sources)
		shuffle(random, c.Sources[0].Provides)
		shuffle(random, c.Rivals)
		shuffle(random, c.History)
		shuffle(random, c.History[0].Totals)
		shuffle(random, c.Shared)
		shuffle(random, c.Compensators)
		shuffle(random, c.Compensates.Earlier)
		shuffle(random, c.Previous.Sources)
		first := c.Facts[0].SubjectID
		if got := c.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Fatalf("another order is written otherwise (-want +got):\n%s", cmp.Diff(string(want), string(got)))
		}
		if c.Facts[0].SubjectID != first {
			t.Fatal("writing the case changed it")
		}
	}
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// What is in the order of its receipt or of the contract stays in it.
func TestListsWhoseOrderMeansSomethingKeepIt(t *testing.T) {
	t.Parallel()
	for name, swap := range map[string]func(c *Case){
		"declarations":                 func(c *Case) { turn(c.Declarations) },
		"the chain of a compensation":  func(c *Case) { turn(c.Compensates.Chain) },
		"the checks of the last time":  func(c *Case) { turn(c.Previous.Checks) },
		"the codes of one such check":  func(c *Case) { c.Previous.Checks[0].Codes = []Code{LateEffect, EffectSeen} },
		"the elements of a list value": func(c *Case) { c.Facts[0].Attrs = map[string]value.Value{"l": list("b", "a")} },
	} {
		c := fullCase(t)
		c.Previous.Checks[0].Codes = []Code{EffectSeen, LateEffect}
		c.Facts[0].Attrs = map[string]value.Value{"l": list("a", "b")}
		before := c.Digest()
		if swap(c); c.Digest() == before {
			t.Errorf("the order of %s does not show", name)
		}
	}
}

func turn[T any](list []T) { list[0], list[1] = list[1], list[0] }

func list(texts ...string) value.Value {
	var elements []value.Value
	for _, text := range texts {
		elements = append(elements, value.OfString(text))
	}
	return value.OfList(elements)
}
