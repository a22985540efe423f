package engine_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// played plays every scenario and hands over what came of it.
func played(t testing.TB, most int, see func(file string, outcomes []scenario.Outcome)) {
	t.Helper()
	for _, folder := range []string{"", "nasty/"} {
		files := os.DirFS("../../../testdata/scenarios/" + folder)
		names, err := fs.Glob(files, "*.yaml")
		if err != nil || len(names) == 0 {
			t.Fatalf("found no scenarios: %v", err)
		}
		for _, name := range names {
			s, err := scenario.Read(files, name)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Actions) > most {
				continue
			}
			outcomes, err := s.Run()
			if err != nil {
				t.Fatal(err)
			}
			see(folder+name, outcomes)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

var engineFile = fmt.Sprintf("testdata/engine-%d.golden", verdict.Engine)

// Two builds of one engine come to the same bytes: the digests of the cases and
// verdicts of all scenarios, of each the first 16 digits, stand in a file. Where
// the meaning of a verdict changes, the engine gets a new number, and so does
// the file; a new scenario only adds lines.
func TestEveryBuildOfAnEngineComesToTheSameVerdicts(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	played(t, 20, func(file string, outcomes []scenario.Outcome) {
		for i := range outcomes {
			c, v := outcomes[i].Case.Digest(), outcomes[i].Verdict.Digest()
			fmt.Fprintln(&got, file, i+1, short(c), short(v))
		}
	})
	if *update {
		if err := os.WriteFile(engineFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(engineFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("engine %d comes to other cases or verdicts than it did (-did +does); if that is meant, raise its number, and before the first release "+
			"write the file anew with go test ./internal/verdict/engine -run %s -update\n%s", verdict.Engine, t.Name(), cmp.Diff(lines(want), lines(got.Bytes())))
	}
}

func short(digest string) string { return digest[len("sha256:"):][:16] }

func lines(text []byte) []string {
	var all []string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

// Whatever is a case comes to one verdict, in which each lens has a reason.
func FuzzEvaluate(f *testing.F) {
	played(f, 20, func(_ string, outcomes []scenario.Outcome) {
		f.Add(outcomes[len(outcomes)-1].Case.AppendJSON(nil))
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := verdict.DecodeCase(text)
		if err != nil {
			return
		}
		v, err := engine.Evaluate(c)
		if err != nil {
			return
		}
		stored, err := verdict.DecodeCase(c.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*verdict.Case{c, stored} {
			again, err := engine.Evaluate(c)
			if err != nil {
				t.Fatal(err)
			}
			if one, other := v.AppendJSON(nil), again.AppendJSON(nil); !bytes.Equal(one, other) {
				t.Fatalf("evaluated again it is another verdict (-first +second):\n%s", cmp.Diff(string(one), string(other)))
			}
		}
		for _, lens := range []verdict.Lens{v.Outcome, v.Conformance} {
			if len(lens.Codes) == 0 || lens.Result == "" || lens.Result == verdict.NotApplicable {
				t.Fatalf("a lens is %q for %v", lens.Result, lens.Codes)
			}
		}
		for i := range v.Checks {
			if len(v.Checks[i].Reasons) == 0 {
				t.Fatalf("%s is %s without a reason", v.Checks[i].ID, v.Checks[i].Result)
			}
		}
	})
}
