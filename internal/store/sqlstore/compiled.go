package sqlstore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/deed-dev/deed/internal/contract"
)

// maxCompiled is how many contracts are kept ready. What is left out is read and
// compiled again, which takes a millisecond.
const maxCompiled = 1024

var contractTexts = tenant("contract_texts", `
	SELECT v.digest, v.text FROM {keys text bigint}
	{join contract_versions v: v.workspace_id = $1 AND v.contract_id = k.k1 AND v.version = k.k2}`)

// compiled are contracts by the digests of their texts. A text is the same in
// every workspace, so that they share it.
type compiled struct {
	mu    sync.RWMutex
	known map[string]*contract.Contract
}

func newCompiled() *compiled { return &compiled{known: map[string]*contract.Contract{}} }

func (c *compiled) get(digest string) *contract.Contract {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[digest]
}

// add compiles a text under its own digest, whatever digest it is said to have.
func (c *compiled) add(digest, text string) error {
	k, err := contract.Parse([]byte(text))
	if err != nil {
		return fmt.Errorf("compile the contract %s: %w", digest, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.known {
		if len(c.known) < maxCompiled {
			break
		}
		delete(c.known, old) // any one of them
	}
	c.known[k.Digest] = k
	return nil
}

// expectedTypes are the fact types that a contract looks for, each once: the rows
// of contract_types.
func expectedTypes(k *contract.Contract) []string {
	var types []string
	for i := range k.Steps {
		types = append(types, k.Steps[i].Expect)
	}
	for i := range k.Never {
		types = append(types, k.Never[i].Expect)
	}
	for i := range k.State {
		types = append(types, k.State[i].Expect)
	}
	for i := range k.Approvals {
		types = append(types, k.Approvals[i].Expect)
	}
	slices.Sort(types)
	return slices.Compact(types)
}
