package recorder

// openCalls remembers the actions of calls that are not answered yet, by the
// id of the request as it is written: 1 and "1" are two ids.
type openCalls struct {
	actions map[string]string
	order   []string // of the ids, the oldest first; some are answered already
}

// mostOpen calls are remembered. What a server never answers would stay for ever.
const mostOpen = 10_000

func newOpenCalls() *openCalls { return &openCalls{actions: map[string]string{}} }

func (o *openCalls) add(id, action string) {
	if _, again := o.actions[id]; !again {
		o.order = append(o.order, id)
	}
	o.actions[id] = action
	if len(o.actions) > mostOpen {
		o.forgetOldest()
	}
	if len(o.order) > 2*mostOpen {
		o.compact()
	}
}

func (o *openCalls) forgetOldest() {
	for len(o.order) > 0 {
		oldest := o.order[0]
		o.order = o.order[1:]
		if _, open := o.actions[oldest]; open {
			delete(o.actions, oldest)
			return
		}
	}
}

// compact leaves out the ids that are answered. An id that was used again keeps
// its last place.
func (o *openCalls) compact() {
	seen := map[string]bool{}
	kept := make([]string, 0, len(o.actions))
	for i := len(o.order) - 1; i >= 0; i-- {
		id := o.order[i]
		if _, open := o.actions[id]; open && !seen[id] {
			seen[id] = true
			kept = append(kept, id)
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	o.order = kept
}

func (o *openCalls) take(id string) (action string, open bool) {
	action, open = o.actions[id]
	delete(o.actions, id)
	return action, open
}
