package engine

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// refundCase is a refund of 180.00 USD that was approved, made, and told to the
// customer, at the time when all of that settles: the case whose form the tests
// of package verdict keep.
func refundCase(t testing.TB) *verdict.Case {
	t.Helper()
	text, err := os.ReadFile("../testdata/case.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := verdict.DecodeCase(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func instant(t testing.TB, text string) value.Instant {
	t.Helper()
	i, err := value.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func amount(t testing.TB, text string) money.Amount {
	t.Helper()
	a, err := money.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
