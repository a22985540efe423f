//go:build unix

package servertest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/api"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// step is a place in a server's work at which it can be made to die.
type step struct{ part, at string }

func (s step) String() string { return s.part + ", " + s.at }

// The parts of the work.
const (
	declaring  = "declaration"
	reporting  = "facts"
	completing = "watermark"
	evaluating = "evaluation"
	settling   = "settlement"
	numbering  = "ledger"
)

// Where in a part.
const (
	parsed       = "parsed"            // and no unit has begun
	claimed      = "claimed"           // the wakes are gone, for this unit
	locked       = "locked"            // the actions are
	evaluated    = "evaluated"         // and the verdict is not kept
	within       = "in the unit"       // something is kept in it
	beforeCommit = "before the commit" // all is kept in it
	inCommit     = "in the commit"
	beforeAnswer = "before the answer" // all is durable, and the client does not know
	beforeNext   = "before the next"   // all is durable, and no other unit has begun
)

// steps are all of them.
var steps = func() (all []step) {
	for _, part := range []string{declaring, reporting, completing} {
		for _, at := range []string{parsed, within, beforeCommit, inCommit, beforeAnswer} {
			all = append(all, step{part, at})
		}
	}
	for _, part := range []string{evaluating, settling} {
		for _, at := range []string{claimed, locked, evaluated, within, beforeCommit, inCommit, beforeNext} {
			all = append(all, step{part, at})
		}
	}
	for _, at := range []string{within, beforeCommit, inCommit, beforeNext} {
		all = append(all, step{numbering, at})
	}
	return all
}()

// doom is where a process dies, by its own hand and as if it was killed: with no
// instruction after the step. It is never reached where the step is none.
type doom struct {
	at    step
	left  atomic.Int64 // how often the step is still passed
	delay atomic.Int64 // into a commit, in nanoseconds
	dying atomic.Bool
}

// doomVariable tells a process of its doom; it holds what [doomOf] reads.
const doomVariable = "DEED_TEST_DIES"

// doomAt is the variable by which a process dies when it comes to a step for the
// nth time, and if that is in a commit, after a while.
func doomAt(at step, nth int, delay time.Duration) string {
	return fmt.Sprintf("%s=%s|%s|%d|%d", doomVariable, at.part, at.at, nth, delay)
}

func doomOf(text string) (*doom, error) {
	d := new(doom)
	if text == "" {
		return d, nil
	}
	words := strings.Split(text, "|")
	if len(words) != 4 || !slices.Contains(steps, step{words[0], words[1]}) {
		return nil, fmt.Errorf("%s is %q", doomVariable, text)
	}
	d.at = step{words[0], words[1]}
	for i, number := range []*atomic.Int64{&d.left, &d.delay} {
		n, err := strconv.ParseInt(words[2+i], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doomVariable, err)
		}
		number.Store(n)
	}
	return d, nil
}

// lastWord is what a process writes when it dies, with the step.
const lastWord = "dies at: "

func (d *doom) die() {
	if d.dying.CompareAndSwap(false, true) {
		fmt.Fprintln(os.Stderr, lastWord+d.at.String())
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	select {} // until it is dead
}

// reach is called at each step.
func (d *doom) reach(part, at string) {
	if (d.at == step{part, at}) && d.left.Add(-1) == 0 {
		d.die()
	}
}

// commits is called when a commit begins, and what it returns when that is over. A
// commit that was over sooner than the process could die is no loss: the next one has
// half the time.
func (d *doom) commits(part string) (over func()) {
	if (d.at != step{part, inCommit}) || d.left.Add(-1) > 0 {
		return func() {}
	}
	delay := d.delay.Load()
	d.delay.Store(delay / 2)
	timer := time.AfterFunc(time.Duration(delay), d.die)
	return func() { timer.Stop() }
}

// mortal is a store whose process dies at a step.
type mortal struct {
	store.Store
	doom *doom
}

// Do implements [store.Store].
func (m *mortal) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	var u *mortalUnit
	over := func() {}
	err := m.Store.Do(ctx, w, func(tx store.Tx) error {
		over() // it runs again after a conflict
		u = &mortalUnit{Tx: tx, doom: m.doom, parts: map[string]bool{}}
		if err := fn(u); err != nil {
			return err
		}
		var commits []func()
		for part := range u.parts {
			m.doom.reach(part, beforeCommit)
			commits = append(commits, m.doom.commits(part))
		}
		over = func() {
			for _, end := range commits {
				end()
			}
		}
		return nil
	})
	over()
	if err == nil {
		for part := range u.parts {
			m.doom.reach(part, beforeNext)
		}
	}
	return err
}

// mortalUnit knows by what is done in it which parts of the work it is.
type mortalUnit struct {
	store.Tx
	doom  *doom
	parts map[string]bool
	due   bool // an action that may settle was claimed
}

// keeps is called when something was kept.
func (u *mortalUnit) keeps(part string) {
	u.parts[part] = true
	u.doom.reach(part, within)
}

// evaluates is called where a unit comes to a step of evaluating.
func (u *mortalUnit) evaluates(at string, settles bool) {
	u.doom.reach(evaluating, at)
	if settles {
		u.doom.reach(settling, at)
	}
}

func (u *mortalUnit) AddAction(a *store.Action, limits []store.LimitEntry, links map[string]string) {
	u.Tx.AddAction(a, limits, links)
	u.keeps(declaring)
}

func (u *mortalUnit) AddFacts(facts []store.Fact) ([]bool, error) {
	isNew, err := u.Tx.AddFacts(facts)
	u.keeps(reporting)
	return isNew, err
}

func (u *mortalUnit) PutWatermark(source, factType string, at value.Instant, by access.Actor) {
	u.Tx.PutWatermark(source, factType, at, by)
	u.keeps(completing)
}

func (u *mortalUnit) Claim(n int) ([]store.Wake, error) {
	wakes, err := u.Tx.Claim(n)
	if err == nil && len(wakes) > 0 {
		u.parts[evaluating] = true
		u.due = slices.ContainsFunc(wakes, func(w store.Wake) bool { return w.Kind == store.WakeSettle })
		u.evaluates(claimed, u.due)
	}
	return wakes, err
}

func (u *mortalUnit) Lock(refs []store.Ref) error {
	err := u.Tx.Lock(refs)
	if err == nil && u.parts[evaluating] {
		u.evaluates(locked, u.due)
	}
	return err
}

func (u *mortalUnit) KeepVerdict(ref store.Ref, v *verdict.Verdict, c *verdict.Case, waits []verdict.Wait) {
	if !u.parts[evaluating] { // the first one, with the declaration
		u.Tx.KeepVerdict(ref, v, c, waits)
		return
	}
	settles := v.Revision > 0
	u.parts[settling] = u.parts[settling] || settles
	u.evaluates(evaluated, settles)
	u.Tx.KeepVerdict(ref, v, c, waits)
	u.evaluates(within, settles)
}

func (u *mortalUnit) Sequence(leaves []store.Leaf, nodes []tlog.Node, s store.LedgerState) {
	u.Tx.Sequence(leaves, nodes, s)
	u.keeps(numbering)
}

// mortalRecorder and mortalIntake die where no unit is: before it and after it.
type mortalRecorder struct {
	api.ActionRecorder
	doom *doom
}

func (m mortalRecorder) Declare(ctx context.Context, p access.Principal, d *action.Declaration) (*action.Result, error) {
	m.doom.reach(declaring, parsed)
	result, err := m.ActionRecorder.Declare(ctx, p, d)
	if err == nil {
		m.doom.reach(declaring, beforeAnswer)
	}
	return result, err
}

func (m mortalRecorder) DeclareAll(ctx context.Context, p access.Principal, all []*action.Declaration) ([]action.Result, error) {
	m.doom.reach(declaring, parsed)
	results, err := m.ActionRecorder.DeclareAll(ctx, p, all)
	if err == nil {
		m.doom.reach(declaring, beforeAnswer)
	}
	return results, err
}

type mortalIntake struct {
	*intake.Service
	doom *doom
}

func (m mortalIntake) Push(ctx context.Context, p access.Principal, facts []intake.Fact) ([]bool, error) {
	m.doom.reach(reporting, parsed)
	isNew, err := m.Service.Push(ctx, p, facts)
	if err == nil {
		m.doom.reach(reporting, beforeAnswer)
	}
	return isNew, err
}

func (m mortalIntake) PutWatermarks(ctx context.Context, p access.Principal, source string, marks map[string]value.Instant) (*store.SourceState, error) {
	m.doom.reach(completing, parsed)
	state, err := m.Service.PutWatermarks(ctx, p, source, marks)
	if err == nil {
		m.doom.reach(completing, beforeAnswer)
	}
	return state, err
}
