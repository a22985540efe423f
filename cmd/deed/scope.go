package main

import "github.com/deed-dev/deed/internal/report"

// scopeFlags narrow an answer. Every command that sums or lists has them.
type scopeFlags struct {
	Session string `help:"Only the session whose id begins so." placeholder:"PREFIX"`
	Since   string `help:"Only what happened since then (14d, 90m, today, 2026-11-30T14:05)." placeholder:"WHEN"`
}

func (f scopeFlags) scope(w *world) (report.Scope, error) {
	since, err := w.since(f.Since)
	return report.Scope{Session: f.Session, Since: since}, err
}
