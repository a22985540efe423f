package observer

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/protocol"
)

// A key in a PEM block begins in what an excerpt shows and ends behind all that
// is searched for it.
func TestASecretThatReachesBeyondWhatIsSearchedIsNotShownInHalf(t *testing.T) {
	t.Parallel()
	const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	for _, before := range []int{0, 100, argsLimit - 200, excerptWindow - 100} {
		message := `{"text":"` + strings.Repeat("plain words ", before/12) + `-----BEGIN PRIVATE KEY-----\n` +
			strings.Repeat(line+`\n`, 2*excerptWindow/len(line)) + `-----END PRIVATE KEY-----"}`
		k := &keeper{level: Redacted}
		k.Begin(false)
		k.Take([]byte(message))
		shown, _ := excerpt(k, protocol.Span{End: int64(len(message))}, argsLimit, nil)
		if shown == nil || !shown.Cut || len(shown.Head) > argsLimit {
			t.Fatalf("behind %d bytes the excerpt is no excerpt", before)
		}
		if strings.Contains(shown.Head, line[:24]) {
			t.Errorf("behind %d bytes the excerpt shows a key", before)
		}
	}
}
