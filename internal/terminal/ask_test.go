package terminal_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/deed-dev/deed/internal/terminal"
)

func TestOnlyAClearYesIsAYes(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{
		"y\n": true, "yes\n": true, " YES \r\n": true, "y": true,
		"": false, "\n": false, "n\n": false, "yesterday\n": false, "ja\n": false, "no\ny\n": false,
	} {
		var asked strings.Builder
		got, err := terminal.Ask(strings.NewReader(typed), &asked, "erase 3 calls?")
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", typed, got, err)
		}
		if asked.String() != "erase 3 calls? [y/N] " {
			t.Errorf("it asked %q", asked.String())
		}
	}
}

func TestAnAnswerThatCannotBeReadIsAnErrorAndNoYes(t *testing.T) {
	t.Parallel()
	broken := errors.New("line noise")
	got, err := terminal.Ask(iotest.ErrReader(broken), &strings.Builder{}, "erase 3 calls?")
	if got || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}
