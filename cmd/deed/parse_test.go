package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/google/go-cmp/cmp"
)

func parseLine(t *testing.T, args ...string) (commands, error) {
	t.Helper()
	var line commands
	w := &world{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer), clock: terminal.SystemClock(), progress: new(terminal.Progress)}
	parser, err := newParser(context.Background(), &line, w, func(code int) { t.Fatalf("stopped with %d", code) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return line, err
}

func TestTheFlagsOfAWrappedServerAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args string
		want string
	}{
		{"behind a double dash", "run -- npx -y server --log=y", "-- npx -y server --log=y"},
		{"without one", "run npx -y server --home x --version", "npx -y server --home x --version"},
		{"behind flags of ours", "run --label shop --echo -- node s.js --echo -h", "-- node s.js --echo -h"},
		{"with a dash of its own", "run node -- --label x", "node -- --label x"},
		{"named like a command of ours", "run tail -f log", "tail -f log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			line, err := parseLine(t, strings.Fields(test.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Fields(test.want), line.Run.Command); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if line.Run.Echo != strings.Contains(test.args, "shop --echo") {
				t.Errorf("--echo is %v", line.Run.Echo)
			}
		})
	}
}

func TestAMistypedFlagOfRunIsNotGivenToTheServer(t *testing.T) {
	t.Parallel()
	_, err := parseLine(t, "run", "--lable", "x", "--", "node", "s.js")
	if err == nil || !strings.Contains(err.Error(), `unknown flag --lable, did you mean "--label"?`) {
		t.Errorf("error %v", err)
	}
}

func TestTheHomeMayStandBeforeAndBehindTheCommand(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--home h tail", "tail --home h", "tail --home=h"} {
		line, err := parseLine(t, strings.Fields(args)...)
		if err != nil || line.Home != "h" {
			t.Errorf("%s: home %q, error %v", args, line.Home, err)
		}
	}
}
