package stdio

import "github.com/deed-dev/deed/internal/wire"

// both is two gates at once: a line goes on when both let it, and only the
// first can keep it.
type both struct{ first, second wire.Gate }

// Pass implements [wire.Gate].
func (b both) Pass(line *wire.Line) <-chan wire.Decision {
	one, other := b.first.Pass(line), b.second.Pass(line)
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	}
	answer := make(chan wire.Decision, 1)
	go func() {
		decided := <-one
		<-other
		answer <- decided
	}()
	return answer
}
