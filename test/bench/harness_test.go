package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be its own children, as bench is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childWord {
		os.Exit(childMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// withoutDeed is a bench that measures the ways that need nothing built.
func withoutDeed(t *testing.T) *bench {
	t.Helper()
	b, clean, err := newBench("", t.TempDir(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clean)
	b.dose = quickDose
	b.dose.calls = []callDose{{200, 40}, {20_000, 20}}
	b.dose.streamed, b.dose.starts, b.dose.recorders, b.dose.paced = 4<<20, 2, 2, 3
	return b
}

func TestEveryWireMeasureHasARowForEachWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		take func(context.Context, *bench) (*section, error)
		ways []string
	}{
		{"round trip", measureRoundTrip, []string{wayDirect, wayBare}},
		{"stream", measureStream, []string{wayDirect, wayBare}},
		{"memory, where direct has nobody in the middle", measureMemory, []string{wayBare}},
		{"start-up", measureStartup, []string{wayDirect, wayBare}},
		{"crowd", measureCrowd, []string{wayDirect, wayBare}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			section, err := c.take(t.Context(), withoutDeed(t))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			section.print(&out)
			for _, way := range c.ways {
				if !strings.Contains(out.String(), "| "+way+" |") {
					t.Errorf("no row for %s in\n%s", way, out.String())
				}
			}
			if len(section.figures) != 0 {
				t.Errorf("without deed there are figures about it: %v", section.figures)
			}
		})
	}
}

// A way that loses or changes an answer must end the measure: its times would
// be those of something else.
func TestAWayThatDoesNotCarryAnswersIsAnError(t *testing.T) {
	t.Parallel()
	b := withoutDeed(t)
	for _, c := range []struct {
		name string
		wrap func(server []string) []string
	}{
		{"a server that answers another call", func([]string) []string { return b.source(200, 200) }},
		{"a server that answers too much", func([]string) []string { return b.server(300) }},
		{"a command that ends at once", func([]string) []string { return []string{b.self, childWord, "none", ""} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line, err := way{name: c.name, wrap: c.wrap}.open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, first := line.call(200)
			line.stdin.Close()
			if err := line.close(); first == nil && err == nil {
				t.Error("the call and the end passed as if all was well")
			}
		})
	}
}

func TestUnknownMeasuresAreNamed(t *testing.T) {
	t.Parallel()
	_, err := choose("roundtrip,speed")
	if err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("got %v, want an error that names speed", err)
	}
}
