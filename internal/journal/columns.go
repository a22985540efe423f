package journal

// columns are what a row of entries says beside its leaf. They are derived
// from the leaf and the detail and nothing else, so that verify can derive
// them again. A nil value is NULL.
type columns struct {
	seq     int64
	kind    string
	at      int64
	side    *string
	bytes   *int64
	call    *int64
	took    *int64
	outcome *string
	method  *string
	tool    *string
	err     *string
}

// deriveColumns needs the detail only for method, tool and error; they are
// NULL without it.
func deriveColumns(e *Entry, d *Detail) columns {
	c := columns{seq: e.Seq, kind: string(e.Kind), at: e.At}
	c.side = unlessEmpty(e.From)
	if kindRules[e.Kind].allowed&mBytes != 0 {
		c.bytes = &e.Bytes
	}
	if e.Call > 0 {
		c.call = &e.Call
		if e.Kind == KindResponse && e.Took >= 0 {
			c.took = &e.Took
		}
	}
	c.outcome = unlessEmpty(string(e.Outcome))
	if d != nil {
		c.method = textColumn(d.Method)
		c.tool = textColumn(d.Tool)
		c.err = textColumn(d.Error)
	}
	return c
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func textColumn(t *Text) *string {
	if t == nil {
		return nil
	}
	s := t.String()
	return &s
}

// differing names the columns in which two rows differ.
func (c *columns) differing(other *columns) []string {
	var names []string
	add := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	add("seq", c.seq == other.seq)
	add("kind", c.kind == other.kind)
	add("at", c.at == other.at)
	add("side", equal(c.side, other.side))
	add("bytes", equal(c.bytes, other.bytes))
	add("call", equal(c.call, other.call))
	add("took", equal(c.took, other.took))
	add("outcome", equal(c.outcome, other.outcome))
	add("method", equal(c.method, other.method))
	add("tool", equal(c.tool, other.tool))
	add("error", equal(c.err, other.err))
	return names
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
