package governance

import (
	"crypto/sha256"
	"sync"

	"github.com/deed-dev/deed/internal/contract"
)

// keptCompiled bounds the compiled contracts in memory. A large one takes some
// hundred KiB.
const keptCompiled = 256

// compiler remembers what texts compile to. A compiled contract is never changed, so
// that all may share it.
type compiler struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]*contract.Contract
}

func newCompiler() *compiler {
	return &compiler{kept: map[[sha256.Size]byte]*contract.Contract{}}
}

// compile returns the contract of a text. What is no contract is not remembered:
// strangers could fill the memory with it.
func (c *compiler) compile(text string) (*contract.Contract, error) {
	sum := sha256.Sum256([]byte(text))
	c.mu.Lock()
	k := c.kept[sum]
	c.mu.Unlock()
	if k != nil {
		return k, nil
	}
	k, err := contract.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= keptCompiled {
		for other := range c.kept { // any of them: all can be had again
			delete(c.kept, other)
			break
		}
	}
	c.kept[sum] = k
	return k, nil
}
