package demo

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// OnlyReads says whether a tool seems to change nothing. It is for proposals
// that a person looks at: whether a tool may be called unasked is another
// question, to which [Demo] has a stricter answer. What a server says counts,
// unless the name says otherwise; a server that says nothing is judged by names.
func OnlyReads(tool *mcp.Tool) bool {
	words, ok := splitName(tool.Name)
	if !ok {
		return false
	}
	hints := tool.Annotations
	if hints != nil && hints.DestructiveHint != nil && *hints.DestructiveHint && !hints.ReadOnlyHint {
		return false
	}
	if _, found := alarming(words); found {
		return false
	}
	if hints != nil && hints.ReadOnlyHint {
		return !slices.Contains(changeVerbs(), words[0])
	}
	changes := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(changeVerbs(), word) })
	return !changes && !slices.Contains(eitherVerbs(), words[0]) && readsByName(words)
}
