package condition

// Expr is a parsed expression.
type Expr struct{ text string }

// String is the expression as it was written.
func (e *Expr) String() string { return e.text }
