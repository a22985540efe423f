package terminal

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		isTerminal bool
		env        map[string]string
		want       bool
	}{
		{"a terminal is coloured", true, map[string]string{"TERM": "xterm-256color"}, true},
		{"a terminal that does not say which is coloured", true, nil, true},
		{"a pipe is not", false, map[string]string{"TERM": "xterm-256color"}, false},
		{"NO_COLOR turns it off whatever it is set to", true, map[string]string{"NO_COLOR": "0"}, false},
		{"an empty NO_COLOR does not", true, map[string]string{"NO_COLOR": ""}, true},
		{"a dumb terminal is not", true, map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string { return test.env[name] }
			if got := wantsColour(test.isTerminal, getenv); got != test.want {
				t.Errorf("colour: %v, want %v", got, test.want)
			}
		})
	}
}

func TestProgressIsOneLineThatGoesAwayAgain(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	now := time.Unix(0, 0)
	p := newProgress(&b, Clock{Now: func() time.Time { return now }, Zone: time.UTC})
	p.Tell("checked", 1, 2000)
	p.Clear()
	if b.Len() != 0 {
		t.Errorf("work that is done at once showed %q", b.String())
	}
	now = now.Add(time.Second)
	p.Tell("checked", 1000, 2000)
	p.Tell("checked", 1001, 2000)
	p.Clear()
	p.Clear()
	if want := "\r\x1b[Kchecked 1,000 of 2,000\r\x1b[K"; b.String() != want {
		t.Errorf("progress was %q, want %q", b.String(), want)
	}
}

func TestProgressIsQuietWhereNobodyWatches(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	p := ProgressOn(writer, SystemClock())
	p.Tell("checked", 1, 2)
	p.Clear()
	if p.to != nil || p.showed {
		t.Error("it writes to a pipe")
	}
}
