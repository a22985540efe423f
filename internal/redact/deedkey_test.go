package redact_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/redact"
)

// A recorder must never keep the key that declares to a verifier.
func TestAVerifiersKeyIsReplaced(t *testing.T) {
	t.Parallel()
	key := "spk_" + "a7Qm2XzL" + "9kTf4WcVb8nJr3HsYd6PgEu1oZx5MiBqAtKw0CyNvRl" + "Hh2Jk9"
	for _, text := range []string{"key " + key, `{"note":"use ` + key + ` here"}`, "deed flush " + key} {
		got, report := redact.Text(text)
		if strings.Contains(got, key[4:]) {
			t.Errorf("%q was left in %q", key, got)
		}
		if !strings.Contains(got, "deed_key") {
			t.Errorf("the key in %q was not known for what it is: %q, %v", text, got, report)
		}
	}
}
