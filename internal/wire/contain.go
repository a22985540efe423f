package wire

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// PanicError is a panic in a [Tap] or [Gate]. The wire goes on without it.
type PanicError struct {
	Call  string // such as "Tap.Offer"
	Value any    // what it panicked with
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.Call, e.Value) }

// Contained keeps a tap's panic away from the wire. After the first one the
// tap is not called again, by either direction that shares it.
type Contained struct {
	tap      Tap
	panicked func(error)
	broken   atomic.Bool
	once     sync.Once
	err      atomic.Pointer[PanicError]
}

// Contain returns tap with its panics contained. panicked may be nil; it is
// called once, at the first panic, on the goroutine of the wire.
func Contain(tap Tap, panicked func(error)) *Contained {
	return &Contained{tap: tap, panicked: panicked}
}

func contain(tap Tap, panicked func(error)) *Contained {
	if contained, ok := tap.(*Contained); ok && contained != nil {
		return contained
	}
	return Contain(tap, panicked)
}

// Err returns the *PanicError that ended the tap, or nil.
func (c *Contained) Err() error {
	if err := c.err.Load(); err != nil {
		return err
	}
	return nil
}

func (c *Contained) off() bool { return c.tap == nil || c.broken.Load() }

// Offer is [Tap].Offer; it returns no place once the tap has panicked.
func (c *Contained) Offer(from Direction, data []byte) Place {
	if c.off() {
		return 0
	}
	defer c.caught("Tap.Offer")
	return c.tap.Offer(from, data)
}

// Settle is [Tap].Settle.
func (c *Contained) Settle(place Place, n int) {
	if c.off() {
		return
	}
	defer c.caught("Tap.Settle")
	c.tap.Settle(place, n)
}

// Close is [Tap].Close.
func (c *Contained) Close(from Direction, undelivered int64) {
	if c.off() {
		return
	}
	defer c.caught("Tap.Close")
	c.tap.Close(from, undelivered)
}

// caught must be deferred itself, or recover would not see the panic.
func (c *Contained) caught(call string) {
	value := recover()
	if value == nil {
		return
	}
	c.broken.Store(true)
	c.once.Do(func() {
		err := &PanicError{Call: call, Value: value, Stack: debug.Stack()}
		c.err.Store(err)
		if c.panicked != nil {
			c.panicked(err)
		}
	})
}
