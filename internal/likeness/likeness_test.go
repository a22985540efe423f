package likeness_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/likeness"
)

func TestTheNameThatWasProbablyMeantIsFound(t *testing.T) {
	t.Parallel()
	names := []string{"amount", "currency", "reason", "id", "money_moved"}
	for given, want := range map[string]string{
		"ammount": "amount", "amonut": "amount", "Amount": "amount", "curency": "currency", "resaon": "reason", "ids": "id", "money_movd": "money_moved",
		"moneymoved": "money_moved", "xyz": "", "amount_of_the_refund": "", "": "", "q": "", "zzzzzzzzzzzz": "",
		"amount": "", strings.Repeat("a", 100): "",
	} {
		if got := likeness.Closest(given, names); got != want {
			t.Errorf("%q is like %q, want %q", given, got, want)
		}
	}
}

func TestOfSeveralEquallyNearItIsTheFirst(t *testing.T) {
	t.Parallel()
	if got := likeness.Closest("steb", []string{"step", "stem"}); got != "step" {
		t.Errorf("it is %q", got)
	}
	if got := likeness.Closest("x", nil); got != "" {
		t.Errorf("of none it is %q", got)
	}
}
