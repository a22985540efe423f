package entry

// Columns are what a row of entries says beside its leaf. They are derived
// from the leaf and the detail and nothing else, so that verify can derive
// them again. A nil value is NULL.
type Columns struct {
	Seq     int64
	Kind    string
	At      int64
	Side    *string
	Bytes   *int64
	Call    *int64
	Took    *int64
	Outcome *string
	Method  *string
	Tool    *string
	Error   *string
}

// DeriveColumns needs the detail only for method, tool and error; they are
// NULL without it.
func DeriveColumns(e *Entry, d *Detail) Columns {
	c := Columns{Seq: e.Seq, Kind: string(e.Kind), At: e.At}
	c.Side = unlessEmpty(e.From)
	if kindRules[e.Kind].allowed&mBytes != 0 {
		c.Bytes = &e.Bytes
	}
	if e.Call > 0 {
		c.Call = &e.Call
		if e.Kind == KindResponse && e.Took >= 0 {
			c.Took = &e.Took
		}
	}
	c.Outcome = unlessEmpty(string(e.Outcome))
	if e.Kind == KindIntent {
		c.Outcome = &e.Reason // to count by it
	}
	if d != nil {
		c.Method = textColumn(d.Method)
		c.Tool = textColumn(d.Tool)
		c.Error = textColumn(d.Error)
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
