package journal

import (
	"context"
	"fmt"
	"slices"
)

// wholeness is what SQLite says of its own tables and indexes. It takes a
// third of a verification and needs nothing from the rest, so that it goes on
// beside it.
type wholeness struct {
	stop context.CancelFunc
	done chan struct{}
	says []string // what is wrong
	err  error
}

// beginWhole has SQLite compare its indexes with their tables. Whoever begins
// it calls end.
func (v *verification) beginWhole() *wholeness {
	ctx, stop := context.WithCancel(v.ctx)
	w := &wholeness{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.says, w.err = v.readIntegrity(ctx)
	}()
	return w
}

func (v *verification) readIntegrity(ctx context.Context) ([]string, error) {
	rows, err := v.db.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", MaxFindings))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var says string
		if err := rows.Scan(&says); err != nil {
			return nil, err
		}
		if says != "ok" {
			list = append(list, says)
		}
	}
	return list, rows.Err()
}

// end stops what still goes on, and waits until it has.
func (w *wholeness) end() {
	w.stop()
	<-w.done
}

// tell waits for the answer and puts what is wrong before everything else: of
// a database that is not whole, the rest may be a consequence.
func (w *wholeness) tell(r *VerifyReport) error {
	<-w.done
	if w.err != nil {
		return w.err
	}
	var own VerifyReport
	for _, says := range w.says {
		own.find(-1, "the database is not whole: %s", says)
	}
	r.Found += own.Found
	r.Findings = slices.Concat(own.Findings, r.Findings)
	r.Findings = r.Findings[:min(len(r.Findings), MaxFindings)]
	return nil
}
