package account

import (
	"testing"

	"github.com/deed-dev/deed/internal/access"
)

// What a key costs on each request, once it is known.
func BenchmarkAuthenticateByKey(b *testing.B) {
	d, secret := newOneKey(b)
	s, err := New(downStore{directory: d}, newTestClock().Now)
	if err != nil {
		b.Fatal(err)
	}
	c := Credential{Text: secret.Reveal(), Address: office}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Authenticate(b.Context(), c, access.REST); err != nil {
			b.Fatal(err)
		}
	}
}

// What a password costs, which is meant to be much.
func BenchmarkPassword(b *testing.B) {
	h := testHasher(b)
	for b.Loop() {
		if _, err := h.hash(b.Context(), "correct horse battery"); err != nil {
			b.Fatal(err)
		}
	}
}
