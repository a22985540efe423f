package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// Catalogue knows the tools that servers offered. [journal.Reader] is one.
type Catalogue interface {
	journal.History
	// Tools returns each tool of each server with its newest definition.
	Tools(ctx context.Context, f journal.ToolFilter) ([]journal.Tool, error)
}

// ToolsQuery says which tools [ListTools] lists.
type ToolsQuery struct {
	Scope
	Label   string // only this server's
	Changes bool   // only those whose definition changed, within the scope's time
	All     bool   // no row of the text is left out
}

// Tools is the inventory of the tools that servers offered.
type Tools struct {
	query   ToolsQuery
	scope   scoped
	tools   []journal.Tool // by server, then by name
	changed []changedTool  // newest change first
	gaps    []journal.Gap
}

// changedTool is a tool whose definition is not what it was.
type changedTool struct {
	journal.Tool
	differences []Difference
}

// ListTools lists tools, and what changed about them. Errors:
// [ErrNothingRecorded], [NoSessionError], [AmbiguousError].
func ListTools(ctx context.Context, catalogue Catalogue, clock terminal.Clock, query ToolsQuery) (*Tools, error) {
	within, err := query.resolve(ctx, catalogue, clock)
	if err != nil {
		return nil, err
	}
	t := &Tools{query: query, scope: within}
	if t.tools, err = catalogue.Tools(ctx, journal.ToolFilter{Session: within.id, Label: query.Label, Since: within.since}); err != nil {
		return nil, fmt.Errorf("list the tools: %w", err)
	}
	slices.SortStableFunc(t.tools, func(a, b journal.Tool) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.Name, b.Name))
	})
	for _, tool := range t.tools {
		if tool.ChangedAt != 0 && tool.ChangedAt >= within.since {
			t.changed = append(t.changed, changedTool{tool, differences(tool.PreviousDefinition, tool.Definition)})
		}
	}
	slices.SortStableFunc(t.changed, func(a, b changedTool) int { return cmp.Compare(b.ChangedAt, a.ChangedAt) })
	t.gaps, err = within.gaps(ctx, catalogue)
	return t, err
}

// Changed says whether any definition changed within the scope.
func (t *Tools) Changed() bool { return len(t.changed) > 0 }

// Text has the changed definitions first: a tool whose description changed
// tells the model something else than what somebody once agreed to.
func (t *Tools) Text(view View) string {
	var b strings.Builder
	b.WriteString(t.changesText(view))
	if !t.query.Changes {
		b.WriteString(t.inventoryText(view))
	}
	b.WriteString(gapsText(t.gaps, view))
	return b.String()
}

// differencesListed is how many differences of one tool are printed.
const differencesListed = 8

func (t *Tools) changesText(view View) string {
	if len(t.changed) == 0 {
		if t.query.Changes {
			return view.Style.Good("no definition changed"+t.scope.text(view)) + "\n"
		}
		return ""
	}
	var b strings.Builder
	b.WriteString(view.Style.Bad("changed definitions") + "\n")
	for i, tool := range t.changed {
		if i == listed(len(t.changed), t.query.All) {
			b.WriteString("  " + moreText(len(t.changed), i, "tool", "deed tools --changes --all"))
			break
		}
		fmt.Fprintf(&b, "  %s  %s  %s  %s -> %s\n", view.Style.Strong(terminal.Cut(orNone(tool.Name), nameWidth)), terminal.Cut(tool.Label, nameWidth),
			view.moment(tool.ChangedAt), shortHash(tool.Previous), shortHash(tool.SHA256))
		for j, one := range tool.differences {
			if j == differencesListed {
				fmt.Fprintf(&b, "    … and %s: deed tools --changes --json\n", terminal.Plural(int64(len(tool.differences)-j), "more difference"))
				break
			}
			b.WriteString(one.text(view))
		}
		if len(tool.differences) == 0 {
			b.WriteString("    the definitions themselves were not kept\n")
		}
	}
	if !t.query.Changes {
		b.WriteString("\n")
	}
	return b.String()
}

func (t *Tools) inventoryText(view View) string {
	if len(t.tools) == 0 {
		return "no list of tools was seen" + t.scope.text(view) + "\n"
	}
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "server", Max: nameWidth / 2},
		{Title: "tool", Max: nameWidth},
		{Title: "calls", Right: true},
		{Title: "first seen"},
		{Title: "last seen"},
		{Title: "size", Right: true},
		{Title: "definition"},
	}}
	shown := listed(len(t.tools), t.query.All)
	for _, tool := range t.tools[:shown] {
		hash := terminal.Text(shortHash(tool.SHA256))
		if tool.ChangedAt != 0 {
			hash = terminal.Cell{Text: hash.Text + " changed", Paint: view.Style.Warn}
		}
		table.Add(
			terminal.Text(tool.Label), terminal.Text(orNone(tool.Name)), countCell(tool.Calls, nil),
			terminal.Text(view.Clock.Dated(terminal.Micros(tool.FirstSeen))), terminal.Text(view.Clock.Dated(terminal.Micros(tool.LastSeen))),
			terminal.Text(terminal.Size(tool.Bytes)), hash,
		)
	}
	return table.String() + moreText(len(t.tools), shown, "tool", "deed tools --all")
}

// shortHash is enough of a hash to tell definitions apart by eye.
func shortHash(hash entry.Hash) string { return hash.String()[:8] }

// ToolsDocument is the JSON form of [Tools].
type ToolsDocument struct {
	ScopeDocument
	Changed []ChangedToolDocument `json:"changed"` // newest first
	Tools   []ToolDocument        `json:"tools"`   // by server, then by name; empty with --changes
	Gaps    []GapDocument         `json:"gaps"`    // what was not seen
}

// ToolDocument is one tool of one server.
type ToolDocument struct {
	Label           string  `json:"label"`            // of its server
	Tool            string  `json:"tool"`             // its name
	Calls           int64   `json:"calls"`            // of it
	FirstSeenAt     string  `json:"first_seen_at"`    // in a list of tools
	LastSeenAt      string  `json:"last_seen_at"`     // in a list of tools
	SHA256          string  `json:"sha256"`           // of its definition as canonical JSON
	DefinitionBytes int64   `json:"definition_bytes"` // on the wire
	ChangedAt       *string `json:"changed_at"`       // when its definition last became another; null where it never did
	PreviousSHA256  *string `json:"previous_sha256"`  // of the definition before
}

// ChangedToolDocument is a tool whose definition changed.
type ChangedToolDocument struct {
	ToolDocument
	Differences []Difference `json:"differences"` // between the two; empty where they were not kept
}

// Document is the answer for programs.
func (t *Tools) Document() any {
	d := ToolsDocument{
		ScopeDocument: t.scope.document(), Changed: make([]ChangedToolDocument, 0, len(t.changed)),
		Tools: make([]ToolDocument, 0, len(t.tools)), Gaps: gapDocuments(t.gaps),
	}
	for _, tool := range t.changed {
		d.Changed = append(d.Changed, ChangedToolDocument{toolDocument(tool.Tool), append([]Difference{}, tool.differences...)})
	}
	if !t.query.Changes {
		for _, tool := range t.tools {
			d.Tools = append(d.Tools, toolDocument(tool))
		}
	}
	return d
}

func toolDocument(tool journal.Tool) ToolDocument {
	d := ToolDocument{
		Label: tool.Label, Tool: tool.Name, Calls: tool.Calls, FirstSeenAt: stamp(tool.FirstSeen), LastSeenAt: stamp(tool.LastSeen),
		SHA256: tool.SHA256.String(), DefinitionBytes: tool.Bytes, ChangedAt: stampOrNil(tool.ChangedAt),
	}
	if tool.Previous != (entry.Hash{}) {
		previous := tool.Previous.String()
		d.PreviousSHA256 = &previous
	}
	return d
}
