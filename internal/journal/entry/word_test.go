package entry

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const wordPage = "../../../docs/journal-format.md"

func TestEveryWordOfTheFormatIsOnItsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(wordPage)
	if err != nil {
		t.Fatal(err)
	}
	words := append([]string{}, memberNames[:]...)
	words = append(words, detailMembers[:]...)
	for word := range knownWords {
		words = append(words, word)
	}
	for _, word := range words {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("the page does not mention %q", word)
		}
	}
	_, kinds, ok := strings.Cut(string(page), "| Kind |")
	if !ok {
		t.Fatal("the page has no table of kinds")
	}
	for kind, rule := range kindRules {
		row := fmt.Sprintf("| `%s` |", kind)
		at := strings.Index(kinds, row)
		if at < 0 {
			t.Errorf("the page has no row for %s", kind)
			continue
		}
		cells := strings.Split(strings.SplitN(kinds[at:], "\n", 2)[0], "|")
		for i, members := range map[int]member{3: rule.required &^ inEvery, 4: rule.allowed &^ rule.required} {
			want := []string{"—"}
			if members != 0 {
				want = strings.Split("`"+strings.ReplaceAll(members.String(), ", ", "`, `")+"`", ", ")
			}
			if got := strings.TrimSpace(cells[i]); got != strings.Join(want, " ") {
				t.Errorf("the page gives a %s %s, the code %s", kind, got, strings.Join(want, " "))
			}
		}
	}
}
