package action

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// A ref is "act_" and 26 digits of base 32: 48 bits of milliseconds and 80 random
// ones, so that refs sort by when they were made.
const (
	refPrefix = "act_"
	refDigits = 26
	alphabet  = "0123456789abcdefghjkmnpqrstvwxyz" // without letters that look like others
)

// IsRef says whether a text has the form of the server's own ids: "act_" and 26
// digits and small letters.
func IsRef(text string) bool {
	digits, is := strings.CutPrefix(text, refPrefix)
	return is && len(digits) == refDigits && strings.Trim(digits, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// minter makes refs. Those of one minter always sort in the order in which they were
// made, also within a millisecond and when the clock goes back.
type minter struct {
	random io.Reader
	mu     sync.Mutex
	last   [16]byte // 6 bytes of milliseconds, 10 of chance
}

// mint makes a ref for a time. Errors: what the randomness fails with.
func (m *minter) mint(at value.Instant) (store.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var next [16]byte
	milliseconds := uint64(at / 1000)
	for i := range 6 {
		next[i] = byte(milliseconds >> (40 - 8*i))
	}
	if string(next[:6]) > string(m.last[:6]) {
		if _, err := io.ReadFull(m.random, next[6:]); err != nil {
			return "", fmt.Errorf("make an action's id: %w", err)
		}
		next[6] &= 0x7f // room to count up
	} else {
		var step [4]byte
		if _, err := io.ReadFull(m.random, step[:]); err != nil {
			return "", fmt.Errorf("make an action's id: %w", err)
		}
		next = m.last
		add(next[:], step)
	}
	m.last = next
	return store.Ref(refPrefix + encode(next)), nil
}

// add counts a number up by a step and one.
func add(number []byte, step [4]byte) {
	carry := uint(1)
	for i := range number {
		at := len(number) - 1 - i
		sum := uint(number[at]) + carry
		if i < len(step) {
			sum += uint(step[i])
		}
		number[at], carry = byte(sum), sum>>8
	}
}

// encode writes 128 bits as 26 digits, the first of which has two leading zeros.
func encode(b [16]byte) string {
	var text [refDigits]byte
	for i := range text {
		digit := 0
		for bit := 5*i - 2; bit < 5*i+3; bit++ {
			digit <<= 1
			if bit >= 0 && b[bit/8]&(1<<(7-bit%8)) != 0 {
				digit |= 1
			}
		}
		text[i] = alphabet[digit]
	}
	return string(text[:])
}
