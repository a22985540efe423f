package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// deed is the real program: the story is told by all of it together.
// DEED_BIN may name one that is built.
var deed = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("DEED_BIN"); given != "" {
		return given, nil
	}
	folder, err := os.MkdirTemp("", "deed-demo-test-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "deed.exe")
	text, err := exec.Command("go", "build", "-o", program, "github.com/deed-dev/deed/cmd/deed").CombinedOutput()
	if err != nil {
		return "", errors.New(string(text))
	}
	built = program
	return program, nil
})

// built is the program, once it is, for TestMain to remove.
var built string

// tell tells the story with the real program.
func tell(t *testing.T, change func(*Demo)) play {
	t.Helper()
	program, err := deed()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := &Demo{Program: program, Version: "test", Out: &out, Err: &out, limits: patient()}
	if change != nil {
		change(d)
	}
	p := play{err: d.Run(t.Context()), out: out.String()}
	if found := regexp.MustCompile(`(?m)^journal +(.*)/journal-`).FindStringSubmatch(p.out); found != nil {
		p.home = found[1]
	}
	return p
}

// verdict is what the story says of an action.
func (p play) verdict(t *testing.T, action string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^  ([A-Z]+) +` + regexp.QuoteMeta(action) + ` +(.*)$`).FindStringSubmatch(p.out)
	if found == nil {
		t.Fatalf("nothing is said of %s in\n%s", action, p.out)
	}
	return found[1] + " " + found[2]
}

// What each order comes to follows from what the shop does wrong with it
// (internal/shop), from the contract, and from when the manager says yes.
func TestTheStoryEndsAsTheLedgerSays(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := tell(t, nil)
	if p.err != nil {
		t.Fatalf("%v\n%s", p.err, p.out)
	}
	for action, want := range map[string]string{
		"refund:2001": "PASS", "refund:2002": "PASS", "refund:2009": "PASS",
		"refund:2003": "FAIL", // the shop never ordered it
		"refund:2004": "FAIL", // it ordered it twice
		"refund:2005": "FAIL", // 84.00 for 48.00
		"refund:2006": "FAIL", // after five seconds, and four are allowed
		"refund:2007": "FAIL", // 310.00, and 250.00 are allowed
		"refund:2008": "FAIL", // the manager said yes afterwards
		"refund:2010": "UNKNOWN",
	} {
		if got, _, _ := strings.Cut(p.verdict(t, action), " "); got != want {
			t.Errorf("%s is %s, want %s", action, got, want)
		}
	}
	p.shows(t,
		"list_orders        ok        15 orders", "charge_card        failed    card declined: insufficient funds",
		"track_parcel       error     the carrier does not answer (-32050)",
		"2003 desk lamp         ok        refund issued: 64.50 EUR", // whatever it did
		"Money that moved and that no agent had declared\n  15.00 EUR for order 1039",
		"$ deed last", "actions: 10 declared", "$ deed cost", "$ deed verify", "intact: ", "What to do next",
	)
	if p.home == "" {
		t.Fatal("deed verify does not say where the journal is")
	}
	if _, err := os.Stat(p.home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the demo is still there (%v)", err)
	}
	t.Logf("told in %s", time.Since(began))
}

// The story holds no expected values: what is taken away from it changes what it
// says.
func TestWhatIsTakenAwayChangesTheVerdict(t *testing.T) {
	t.Parallel()
	without := func(text, part string) string {
		if strings.Count(text, part) != 1 {
			t.Fatalf("%q is not once in\n%s", part, text)
		}
		return strings.Replace(text, part, "", 1)
	}
	for name, c := range map[string]struct {
		change func(*props)
		action string
		want   string
	}{
		"a line of the contract": {
			func(p *props) {
				p.contract = without(contractText, "  - {id: single_cap, check: params.amount <= money(\"250.00 EUR\")}\n")
			},
			"refund:2007", "PASS",
		},
		"a fact": {
			func(p *props) { p.office = []string{"--withhold", "re_1"} },
			"refund:2001", "FAIL",
		},
		"a key of the mapping": {
			func(p *props) { p.mapping = without(mappingText, "    params: {amount: arguments.amount}\n") },
			"refund:2001", "FAIL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tell(t, func(d *Demo) {
				d.props = props{contract: contractText, mapping: mappingText}
				c.change(&d.props)
				d.props.contract = strings.ReplaceAll(d.props.contract, "limits:\n\n", "\n")
			})
			if p.err != nil {
				t.Fatalf("%v\n%s", p.err, p.out)
			}
			if got := p.verdict(t, c.action); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s is %s, want %s\n%s", c.action, got, c.want, p.out)
			}
		})
	}
}

func TestTheStoryIsKeptWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := tell(t, func(d *Demo) { d.Keep = true })
	if p.err != nil {
		t.Fatalf("%v\n%s", p.err, p.out)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.home) })
	for _, name := range []string{"journal-v1.db", "ledger.jsonl", "login.json", "server"} {
		if _, err := os.Stat(filepath.Join(p.home, name)); err != nil {
			t.Error(err)
		}
	}
	p.shows(t, "The journal is kept in "+p.home, "deed serve --data "+filepath.Join(p.home, "server")+" --listen 127.0.0.1:")
}

func TestAnInterruptedStorySaysNothingMoreAndLeavesNothing(t *testing.T) {
	t.Parallel()
	program, err := deed()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"An agent works", "list_orders", "refund issued", "by hand"} {
		t.Run("at "+at, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			out := &cancelAt{text: at, cancel: cancel}
			err := (&Demo{Program: program, Version: "test", Out: out, Err: out, limits: patient(), folder: parent}).Run(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the interruption", err)
			}
			if strings.Contains(out.String(), "deed last") {
				t.Errorf("it went on after the interruption:\n%s", out.String())
			}
			if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
				t.Errorf("%v is left (%v)", left, err)
			}
		})
	}
}
