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
	if e.Kind == KindIntent {
		c.outcome = &e.Reason // to count by it
	}
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
