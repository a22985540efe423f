package protocol

// Notify finds the request that a notification belongs to. The zero Match says
// that it is not one of those that belong to a request.
//
//   - A cancellation names the id of a request of its sender. A server may also
//     end a subscription of the client's so.
//   - Progress is reported by the side that was asked. It names the token that
//     the request gave in its _meta, which holds for the task that the request
//     was answered with, until that ends. Where no open request gave such a
//     token it is looked for among the ids of those that gave none, because
//     that is what senders use that give no token.
//   - The state of a task belongs to the call that the task works for, and so
//     does whatever names a task in its _meta.
//   - What names a subscription in its _meta belongs to the request that opened
//     it. Before 2026-07-28 a changed resource belongs to the last request that
//     subscribed to exactly that address.
func (c *Calls) Notify(conn string, m *Message) Match {
	if m.Kind != Notification {
		return Match{}
	}
	switch {
	case m.Method.is(`"notifications/cancelled"`):
		return c.cancel(conn, m)
	case m.Method.is(`"notifications/progress"`):
		match := c.progress(conn, m)
		if match.Unasked && m.RelatedTask.given() {
			return c.ofRelatedTask(conn, m)
		}
		return match
	case m.Method.is(`"notifications/tasks"`), m.Method.is(`"notifications/tasks/status"`):
		if match := c.ofTask(conn, m); !match.Unasked || !m.SubscriptionID.given() {
			return match
		}
	}
	switch {
	case m.RelatedTask.given():
		return c.ofRelatedTask(conn, m)
	case m.SubscriptionID.given():
		return c.ofSubscription(conn, m)
	case m.Method.is(`"notifications/resources/updated"`):
		return c.ofResource(conn, m)
	}
	return Match{}
}

func (c *Calls) cancel(conn string, m *Message) Match {
	if m.RequestID.Raw == nil {
		return Match{Unasked: true}
	}
	g := c.byID[string(c.key(m.From, conn, m.RequestID))]
	if s := c.byID[string(c.key(other(m.From), conn, m.RequestID))]; s != nil && s.streams > 0 {
		if g != nil {
			return Match{Ambiguous: true} // its own request, or the other's subscription
		}
		g = s
	}
	if g == nil {
		return Match{Unasked: true}
	}
	asker := g.calls[0].From
	c.owed[asker] -= g.owed()
	defer func() { c.owed[asker] += g.owed() }()
	if g.shared {
		g.cancelled = min(g.cancelled+1, len(g.calls))
		return Match{Ambiguous: true}
	}
	call := g.calls[0]
	if !call.Cancelled && !call.stream {
		g.cancelled++ // a subscription is not owed in the first place
	}
	call.Cancelled = true
	return Match{Call: call}
}

func (c *Calls) progress(conn string, m *Message) Match {
	if m.ProgressToken.Raw == nil {
		return Match{Unasked: true}
	}
	key := c.key(other(m.From), conn, m.ProgressToken)
	if t := c.byProgress[string(key)]; t != nil {
		if t.shared {
			return Match{Ambiguous: true}
		}
		return Match{Call: t.call, Task: t.call.Task}
	}
	if t := c.tasks.byProgress[string(key)]; t != nil {
		return t.match()
	}
	g := c.byID[string(key)]
	switch {
	case g == nil:
		return Match{Unasked: true}
	case g.shared:
		return Match{Ambiguous: true}
	case g.calls[0].progress != "":
		return Match{Unasked: true}
	}
	return Match{Call: g.calls[0], Task: g.calls[0].Task}
}

// ofTask finds the call that the state of a task is told for.
func (c *Calls) ofTask(conn string, m *Message) Match {
	t := c.findTask(other(m.From), conn, m.TaskID)
	if t == nil {
		return Match{Unasked: true}
	}
	c.noteStatus(other(m.From), conn, m)
	return t.match()
}

func (c *Calls) ofRelatedTask(conn string, m *Message) Match {
	t, ambiguous := c.relatedTask(conn, m)
	switch {
	case ambiguous:
		return Match{Ambiguous: true}
	case t == nil:
		return Match{Unasked: true}
	}
	return t.match()
}

func (t *task) match() Match {
	if t.shared {
		return Match{Ambiguous: true}
	}
	return Match{Call: t.call, Task: t.call}
}

// ofSubscription finds the request that opened a subscription.
func (c *Calls) ofSubscription(conn string, m *Message) Match {
	g := c.byID[string(c.key(other(m.From), conn, m.SubscriptionID))]
	switch {
	case g == nil || g.streams == 0:
		return Match{Unasked: true}
	case g.shared:
		return Match{Ambiguous: true}
	}
	return Match{Call: g.calls[0]}
}

// ofResource finds the request that subscribed to a resource. A server may
// tell of a part of what was subscribed to; whose part it is, is not guessed.
func (c *Calls) ofResource(conn string, m *Message) Match {
	if !m.URI.given() || len(c.watched.byKey) == 0 {
		return Match{}
	}
	call, _ := c.watched.get(string(c.key(other(m.From), conn, m.URI)))
	return Match{Call: call}
}

// watch takes down that a request subscribes to a resource, or ends that.
func (c *Calls) watch(call *Call, m *Message) {
	if !m.URI.given() {
		return
	}
	switch {
	case m.Method.is(`"resources/subscribe"`):
		call.watches = string(c.key(call.From, call.conn, m.URI))
		c.watched.put(call.watches, call)
	case m.Method.is(`"resources/unsubscribe"`):
		c.watched.drop(string(c.key(call.From, call.conn, m.URI)))
	}
}

// unwatch takes a subscription back that was refused.
func (c *Calls) unwatch(call *Call) {
	if call.watches == "" {
		return
	}
	if last, _ := c.watched.get(call.watches); last == call {
		c.watched.drop(call.watches)
	}
}
