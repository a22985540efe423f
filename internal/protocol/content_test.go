package protocol

import "testing"

func TestTheTextOfAResultIsWhatItsTextItemsSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		limit   int
		want    string
		whole   bool
	}{
		"one item":                 {`[{"type":"text","text":"hello"}]`, 100, "hello", true},
		"two items":                {`[{"type":"text","text":"a"}, {"text":"b","type":"text"}]`, 100, "a\nb", true},
		"escapes are undone":       {`[{"text":"a\n\"b\" \u00e9"}]`, 100, "a\n\"b\" é", true},
		"items without text":       {`[{"type":"image","data":"xx"},{"type":"text","text":"b"}]`, 100, "b", true},
		"a text that is no string": {`[{"type":"text","text":{"a":1}}]`, 100, "", true},
		"more than the limit":      {`[{"text":"0123456789"}]`, 4, "0123", false},
		"a limit inside of a rune": {`[{"text":"aé"}]`, 2, "a", false},
		"it breaks off":            {`[{"text":"a"},{"text":"b`, 100, "a", false},
		"no list":                  {`"text"`, 100, "", true},
		"nothing":                  {``, 100, "", true},
		"half a surrogate pair":    {`[{"text":"x\ud800"}]`, 100, `x\ud800`, true},
		"the last of two texts":    {`[{"text":"a","text":"b"}]`, 100, "b", true},
	} {
		text, whole := ContentText([]byte(c.content), c.limit)
		if text != c.want || whole != c.whole {
			t.Errorf("%s: %q, whole %v; want %q, %v", name, text, whole, c.want, c.whole)
		}
	}
}
