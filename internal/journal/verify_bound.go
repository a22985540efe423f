package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Unbound is something in the database that no signature, hash or sum holds,
// so that a verification cannot find that it was changed.
type Unbound struct {
	Table   string
	Columns []string // aRow where rows can come or go; all of the table when there are none
	What    string   // in plain words
}

// aRow stands among columns for whole rows.
const aRow = "a row"

// NotBound is all that a verification cannot find. None of it is part of what
// was recorded; everything else in the database is compared.
func NotBound() []Unbound {
	return []Unbound{
		{"checkpoints", []string{"at"}, "the times of kept checkpoints, but for the newest"},
		{"checkpoints", []string{aRow}, "whether a checkpoint was kept besides those at the ends of sessions"},
		{"meta", []string{"value", aRow}, "what recorders note for themselves: `pruned_at`, `derived`, `indexed`, `unmerged`, `outbox_holder`, `outbox_until`"},
		{"outbox", []string{"tries", "due", "said"}, "how often an intent was sent, when it is sent next, and what the last try met"},
		{"loose", []string{"id", "mark", "since", aRow}, "what is listed as belonging to no entry"},
		{"pieces", []string{"key", "packed", "data", aRow}, "the bytes of what is listed so"},
		{"stale", []string{"hour", aRow}, "which hours, of sessions from which something was erased, wait to be added up anew"},
		{"rollups", []string{aRow}, "the sums of such hours"},
		{"failures", []string{aRow}, "their counts of failures"},
		{"texts", nil, "the index of words that a search looks in"},
	}
}

// metaRows are the rows of meta besides the names of the log and of its key.
// What a recorder notes there is a number.
var metaRows = []string{prunedAtKey, metaGeneration, metaSearched, metaUnmerged, leaseHolder, leaseUntil}

// checkMeta finds rows that no recorder writes, and numbers that are none.
func (v *verification) checkMeta() error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT key, value FROM meta WHERE key NOT IN ('origin', 'verifier_key')")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		v.checkNote(key, value)
	}
	return rows.Err()
}

func (v *verification) checkNote(key, value string) {
	known := false
	for _, one := range metaRows {
		known = known || one == key
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case !known:
		v.report.find(-1, "the journal has a note %q about itself, which no recorder makes", key)
	case err != nil || n < 0:
		v.report.find(-1, "the journal's own note %q is no number", key)
	case key == metaSearched && n > v.report.Entries:
		v.report.find(-1, "the index of texts is said to know entries behind the end of the log")
	}
}

// checkKeptAt compares the time of the last kept checkpoint where it is
// written twice. A recorder that finds a wrong one in the head keeps none.
func (v *verification) checkKeptAt() error {
	if v.head.note == "" {
		return nil
	}
	var at int64
	err := v.tx.QueryRowContext(v.ctx, "SELECT at FROM checkpoints ORDER BY size DESC LIMIT 1").Scan(&at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if at != v.head.keptAt {
		v.report.find(-1, "the last kept checkpoint is not the one that the end of the log speaks of")
	}
	return nil
}

// awaitCheckpoint notes that a session has ended with entry n. A checkpoint
// is kept by the commit that the entry is in.
func (v *verification) awaitCheckpoint(n int64) { v.unkept = append(v.unkept, n) }

// keptCheckpointAt is told of the kept checkpoints as they are reached.
func (v *verification) keptCheckpointAt(size int64) {
	v.lackCheckpoint(size)
	v.unkept = v.unkept[:0]
}

// lackCheckpoint finds ends that no commit can reach any more.
func (v *verification) lackCheckpoint(size int64) {
	for len(v.unkept) > 0 && size > v.unkept[0]+groupEntries {
		v.report.find(v.unkept[0], "a session ends here, and the checkpoint that was kept at that time is missing")
		v.unkept = v.unkept[1:]
	}
}

// lackLastCheckpoint is lackCheckpoint at the end of the log.
func (v *verification) lackLastCheckpoint() { v.lackCheckpoint(entry.MaxInteger) }

// listedTools is what a list of tools says about texts of definitions.
type listedTools struct {
	n    int64
	refs []entry.ToolRef
}

// joinTools notes which definitions lists of tools refer to.
func (v *verification) joinTools(c *chunk) {
	v.hiddenLists = v.hiddenLists || c.hiddenLists
	for _, list := range c.lists {
		for _, ref := range list.refs {
			there := v.definitions[ref.SHA256]
			if ref.Kept && there == notThere {
				v.report.find(list.n, "the definition of a tool under hash %s is missing", ref.SHA256)
			}
			if there == unused {
				v.definitions[ref.SHA256] = used
			}
		}
	}
}

// whether a definition is in the database, and some list refers to it.
type definitionState byte

const (
	notThere definitionState = iota
	unused
	used
)

// checkUnused finds definitions that no list refers to. A list that was
// erased, or that cannot be read, does not say which those were.
func (v *verification) checkUnused() {
	if v.hiddenLists || v.broken || v.derivation.holes {
		return
	}
	for sum, state := range v.definitions {
		if state == unused {
			v.report.find(-1, "there is a definition of a tool under hash %s, and no list of tools has it", sum)
		}
	}
}

// checkPieces finds pieces that are too many, and bodies of entries among
// those that the next recorder is to delete.
func (v *verification) checkPieces() error {
	var there, wanted, doomed int64
	err := v.tx.QueryRowContext(v.ctx, `
		SELECT (SELECT count(*) FROM pieces WHERE key >> 20 NOT IN (SELECT id FROM loose)),
			(SELECT coalesce(sum(CASE WHEN kept > 0 THEN (kept - 1) / `+strconv.Itoa(pieceBytes)+` + 1 ELSE 0 END), 0) FROM bodies),
			(SELECT count(*) FROM bodies WHERE id IN (SELECT id FROM loose))`).Scan(&there, &wanted, &doomed)
	if err != nil {
		return err
	}
	if doomed > 0 {
		v.report.find(-1, "%d bodies of entries are listed as if they belonged to none, so that a recorder would delete them", doomed)
	} else if there > wanted {
		v.report.find(-1, "the database stores %d pieces of bodies, and the bodies consist of %d", there, wanted)
	}
	return nil
}

// unreadableValue says whether an error means that a column holds what no
// recorder writes there. That is found, and not a failure to look.
func unreadableValue(err error) bool {
	return err != nil && strings.Contains(err.Error(), "sql: Scan error on column")
}

func (r *VerifyReport) findUnreadable(err error) {
	r.find(-1, "%s, so that the rest was not looked at", fmt.Sprintf("a value in the database cannot be read: %v", err))
}
