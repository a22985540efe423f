package report

import (
	"fmt"

	"github.com/deed-dev/deed/internal/journal"

	"github.com/deed-dev/deed/internal/terminal"
)

// DestinationDocument is one place that data went to.
type DestinationDocument struct {
	Kind  string `json:"kind"`  // host, email or ip
	Name  string `json:"name"`  // as the call had it
	Calls int64  `json:"calls"` // that named it
}

func destinationDocuments(destinations []journal.DestinationCount) []DestinationDocument {
	documents := make([]DestinationDocument, 0, len(destinations))
	for _, one := range destinations {
		documents = append(documents, DestinationDocument{Kind: one.Kind, Name: one.Name, Calls: one.Calls})
	}
	return documents
}

// destinationsText lists where data was going, the most frequent first. A
// destination is what a call named; whether anything arrived, the record
// cannot know.
func destinationsText(destinations []journal.DestinationCount, most int, more string, view View) string {
	if len(destinations) == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Max: destinationWidth}, {}, {Right: true}}}
	shown := destinations[:min(len(destinations), most)]
	for _, one := range shown {
		table.Add(terminal.Text(one.Name), terminal.Cell{Text: one.Kind, Paint: view.Style.Faint}, terminal.Text(terminal.Plural(one.Calls, "call")))
	}
	text := "\n" + view.Style.Strong("where it went") + "\n" + table.String()
	if left := len(destinations) - len(shown); left > 0 {
		text += fmt.Sprintf("  … and %s: %s\n", terminal.Plural(int64(left), "more destination"), more)
	}
	return text
}

// destinationWidth leaves room for a host name of ordinary length.
const destinationWidth = 60
