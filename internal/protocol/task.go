package protocol

import "github.com/deed-dev/deed/internal/wire"

// keptTasks is how many tasks are remembered. A task lives for as long as its
// server likes, and most never say that they are gone.
const keptTasks = 10_000

// tasks are the tasks that answers handed out, and the calls that they work
// for. A task's id comes from the side that works on it; it is kept under the
// side that asked.
type tasks struct {
	byID       *recent[string, *task]
	byProgress map[string]*task // by the token of the call, which holds for the task
}

// task is one task. A server that hands out one id twice makes it shared:
// nobody knows which call a message about it belongs to.
type task struct {
	call     *Call // it has no Task itself, so that none keeps another in memory
	progress string
	shared   bool
}

func newTasks() tasks {
	return tasks{byID: newRecent[string, *task](keptTasks), byProgress: map[string]*task{}}
}

// root returns the call that messages about a call's task belong to: the
// request that the call began with, or, where that served a task already, the
// call that this one works for.
func (call *Call) root() *Call {
	if call.First.Task != nil {
		return call.First.Task
	}
	return call.First
}

// makeTask takes down that the answer to a call was the handle of a task.
func (c *Calls) makeTask(call *Call, m *Message) {
	key := string(c.key(call.From, call.conn, m.TaskID))
	if known, there := c.tasks.byID.get(key); there {
		known.shared = known.shared || known.call != call.root()
		return
	}
	t := &task{call: call.root()}
	// Only a token that nobody else gave at that time can be the task's.
	if call.progress != "" && !call.sharedProgress {
		t.progress = call.progress
		c.tasks.byProgress[t.progress] = t
	}
	if forgotten, full := c.tasks.byID.put(key, t); full {
		c.tasks.endProgress(forgotten)
	}
}

// endProgress forgets the token of a task that makes no progress any more.
func (s *tasks) endProgress(t *task) {
	if t.progress != "" && s.byProgress[t.progress] == t {
		delete(s.byProgress, t.progress)
	}
	t.progress = ""
}

// findTask returns the task that a side asked for under an id.
func (c *Calls) findTask(asker wire.Direction, conn string, id Token) *task {
	if !id.given() || len(c.tasks.byID.byKey) == 0 {
		return nil
	}
	t, _ := c.tasks.byID.get(string(c.key(asker, conn, id)))
	return t
}

// relatedTask returns the task that a message names in its _meta. Either side
// may name a task, its own or the other's.
func (c *Calls) relatedTask(conn string, m *Message) (t *task, ambiguous bool) {
	theirs := c.findTask(other(m.From), conn, m.RelatedTask)
	own := c.findTask(m.From, conn, m.RelatedTask)
	switch {
	case theirs != nil && own != nil:
		return nil, true
	case own != nil:
		return own, own.shared
	case theirs != nil:
		return theirs, theirs.shared
	}
	return nil, false
}

// taskOfRequest returns the call that the task works for which a request is
// about.
func (c *Calls) taskOfRequest(conn string, m *Message) *Call {
	if isTaskMethod(m.Method) {
		// The id in params is what counts, says the protocol.
		if t := c.findTask(m.From, conn, m.TaskID); t != nil && !t.shared {
			return t.call
		}
		return nil
	}
	if t, ambiguous := c.relatedTask(conn, m); t != nil && !ambiguous {
		return t.call
	}
	return nil
}

// taskOfAnswer does the same for an answer, whose request may have told.
func (c *Calls) taskOfAnswer(call *Call, m *Message) *Call {
	if isTaskMethod(call.Method) {
		c.noteStatus(call.From, call.conn, m)
	}
	if call.Task != nil || m.RelatedTask.Raw == nil {
		return call.Task
	}
	if t, ambiguous := c.relatedTask(call.conn, m); t != nil && !ambiguous {
		return t.call
	}
	return nil
}

// noteStatus takes down that a task has ended. It is remembered all the same,
// because its result may be fetched later.
func (c *Calls) noteStatus(asker wire.Direction, conn string, m *Message) {
	if m.HasError || !isFinal(m.TaskStatus) {
		return
	}
	if t := c.findTask(asker, conn, m.TaskID); t != nil {
		c.tasks.endProgress(t)
	}
}

func (s *tasks) end(conn string) {
	s.byID.dropWhere(func(t *task) bool {
		if t.call.conn != conn {
			return false
		}
		s.endProgress(t)
		return true
	})
}

func isFinal(status Token) bool {
	return status.is(`"completed"`) || status.is(`"failed"`) || status.is(`"cancelled"`)
}

// isTaskMethod says whether a request is one about a task.
func isTaskMethod(method Token) bool { return method.begins(`"tasks/`) }
