package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/terminal"
)

// Difference is one thing that is not the same in two definitions of a tool.
type Difference struct {
	Part string  `json:"part"` // description, input schema, output schema, annotations, or the member's own name
	Path string  `json:"path"` // in that part; empty for the part itself
	Old  *string `json:"old"`  // raw JSON; null where it was not there
	New  *string `json:"new"`  // raw JSON; null where it is gone
}

// parts are the members of a definition that have a name people know.
var parts = map[string]string{
	"description": "description", "inputSchema": "input schema", "outputSchema": "output schema", "annotations": "annotations", "title": "title",
}

// differences compares two definitions member by member, by their raw tokens:
// 1 and 1.0 differ. What is no JSON object is compared as a whole.
func differences(old, now []byte) []Difference {
	var found []Difference
	compare(&found, nil, old, now)
	for i := range found {
		if part, known := parts[found[i].Part]; known {
			found[i].Part = part
		}
	}
	// What a model reads first is what matters first.
	order := []string{"description", "annotations", "input schema", "output schema", "title"}
	slices.SortStableFunc(found, func(a, b Difference) int {
		return rank(order, a.Part) - rank(order, b.Part)
	})
	return found
}

func rank(order []string, part string) int {
	if at := slices.Index(order, part); at >= 0 {
		return at
	}
	return len(order)
}

const (
	// comparedDepth bounds the work on a definition that is nested without
	// end; what is deeper is compared as a whole.
	comparedDepth = 32
	// differencesMost bounds what is told of one definition.
	differencesMost = 1_000
)

func compare(found *[]Difference, path []string, old, now []byte) {
	if bytes.Equal(old, now) || len(*found) == differencesMost {
		return
	}
	oldMembers, newMembers := members(old), members(now)
	if len(path) == comparedDepth || oldMembers == nil || newMembers == nil {
		*found = append(*found, difference(path, old, now))
		return
	}
	names := make([]string, 0, len(oldMembers)+len(newMembers))
	for name := range oldMembers {
		names = append(names, name)
	}
	for name := range newMembers {
		if _, both := oldMembers[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		compare(found, append(slices.Clone(path), name), oldMembers[name], newMembers[name])
	}
}

// members are those of a JSON object, nil where it is none.
func members(raw []byte) map[string]json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

func difference(path []string, old, now []byte) Difference {
	d := Difference{Part: "definition"}
	if len(path) > 0 {
		d.Part, d.Path = path[0], strings.Join(path[1:], ".")
	}
	if old != nil {
		text := string(old)
		d.Old = &text
	}
	if now != nil {
		text := string(now)
		d.New = &text
	}
	return d
}

// text shows the two sides from where they part, so that a sentence that was
// put behind a long description is not cut off.
func (d Difference) text(view View) string {
	head := d.Part
	if d.Path != "" {
		head += "  " + d.Path
	}
	old, now := unquoted(d.Old), unquoted(d.New)
	place := 0
	for place < len(old) && place < len(now) && old[place] == now[place] {
		place++
	}
	text := "    " + terminal.Cut(head, pathWidth+nameWidth) + "\n"
	if d.Old != nil {
		text += "      " + view.Style.Bad("- "+terminal.Around(old, place, 0, snippetWidth)) + "\n"
	}
	if d.New != nil {
		text += "      " + view.Style.Good("+ "+terminal.Around(now, place, 0, snippetWidth)) + "\n"
	}
	return text
}

// unquoted is the text of a JSON string, and anything else as it is.
func unquoted(raw *string) string {
	if raw == nil {
		return ""
	}
	var text string
	if json.Unmarshal([]byte(*raw), &text) == nil && strings.HasPrefix(*raw, `"`) {
		return text
	}
	return *raw
}
