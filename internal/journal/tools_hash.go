package journal

import (
	"crypto/sha256"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// DefinitionsHash binds a list of tools into a tools entry: SHA-256 over the
// hashes of the definitions, in the order of the list.
func DefinitionsHash(tools []entry.ToolRef) entry.Hash {
	h := sha256.New()
	for _, tool := range tools {
		h.Write(tool.SHA256[:])
	}
	return entry.Hash(h.Sum(nil))
}
