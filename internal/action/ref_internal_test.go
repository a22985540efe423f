package action

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// 2026-11-02T12:00:00Z is 1793620800000 milliseconds, which is 19GK9A2YR0 to the base
// of 32 of which the first digit counts 2^45; ten bytes of 0xff less the highest bit
// are fifteen digits z after a 7.
func TestARefIsTheTimeAndChanceInBase32(t *testing.T) {
	t.Parallel()
	m := minter{random: bytes.NewReader(bytes.Repeat([]byte{0xff}, 10))}
	ref, err := m.mint(1_793_620_800_000_000)
	if err != nil {
		t.Fatal(err)
	}
	time, chance := string(ref[4:14]), string(ref[14:])
	n := int64(0)
	for _, digit := range time {
		n = n<<5 | int64(strings.IndexRune(alphabet, digit))
	}
	if n != 1_793_620_800_000 {
		t.Errorf("the first ten digits of %s are %d milliseconds, want 1793620800000", ref, n)
	}
	if chance != "fzzzzzzzzzzzzzzz" {
		t.Errorf("the rest of %s is %s, want 79 bits that are set", ref, chance)
	}
	if !IsRef(string(ref)) {
		t.Errorf("%s is not seen as a ref", ref)
	}
}

func TestRefsSortByWhenTheyWereMadeWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := minter{random: rand.Reader}
		last := store.Ref("")
		for _, at := range rapid.SliceOfN(rapid.Int64Range(1, 1<<51), 2, 40).Draw(t, "times") {
			ref, err := m.mint(value.Instant(at))
			if err != nil {
				t.Fatal(err)
			}
			if ref <= last || !IsRef(string(ref)) {
				t.Fatalf("%s follows %s", ref, last)
			}
			last = ref
		}
	})
}

func TestWithoutChanceThereIsNoRef(t *testing.T) {
	t.Parallel()
	broken := errors.New("no dice")
	m := minter{random: failing{broken}}
	if ref, err := m.mint(1); !errors.Is(err, broken) || ref != "" {
		t.Errorf("got %q, %v", ref, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestOnlyTheServersFormIsARef(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"act_01kb3fz8s0q7m2x5v9c4e6t8wr":  true,
		"act_01kb3fz8s0q7m2x5v9c4e6t8w":   false,
		"act_01kb3fz8s0q7m2x5v9c4e6t8wrr": false,
		"act_01KB3FZ8S0Q7M2X5V9C4E6T8WR":  false,
		"ACT_01kb3fz8s0q7m2x5v9c4e6t8wr":  false,
		"act-01kb3fz8s0q7m2x5v9c4e6t8wr":  false,
		"":                                false,
	} {
		if IsRef(text) != want {
			t.Errorf("that %q is a ref is %v", text, !want)
		}
	}
}
