package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// UnboundValue is something in the database that no signature, hash or sum
// holds, so that a verification cannot find that it was changed.
type UnboundValue struct {
	Table, Column string // Column is "a row" where rows can come or go, empty for all of the table
	Why           string
}

// Unbound is all that a verification cannot find. None of it is part of what
// was recorded; everything else in the database is compared.
func Unbound() []UnboundValue {
	return []UnboundValue{
		{"checkpoints", "at", "times are not in what is signed; the newest must be the one in `head`"},
		{"checkpoints", "a row", "one that was kept within a session, while the end of each session has its own"},
		{"meta", "value", "of the rows that recorders note things in for themselves: `pruned_at`, `derived`, `indexed` (not beyond the log), `unmerged`"},
		{"meta", "a row", "the same ones; any other row is a finding"},
		{"loose", "mark", "a recorder's own mark"},
		{"loose", "since", "the same recorder's clock"},
		{"loose", "id", "as of a row that comes and another that goes"},
		{"loose", "a row", "as long as it names no body of an entry: what is in it was never recorded, or is erased"},
		{"pieces", "key", "of a body in `loose`, for the same reason"},
		{"pieces", "data", "the same"},
		{"pieces", "packed", "the same"},
		{"pieces", "a row", "the same"},
		{"stale", "hour", "as of a row that comes and another that goes"},
		{"stale", "a row", "an hour of a session from which something was erased; how many there are is said, and anything else is a finding"},
		{"rollups", "a row", "of the hours in `stale`, whose sums may be by names that were erased"},
		{"failures", "a row", "the same"},
		{"texts", "", "the index of words that a search looks in; a search may miss something"},
	}
}

// UnboundNames are the tables and columns of the list, for one line.
func UnboundNames() []string {
	var names []string
	for _, u := range Unbound() {
		switch u.Column {
		case "":
			names = append(names, u.Table)
		case "a row":
			names = append(names, "rows of "+u.Table)
		default:
			names = append(names, u.Table+"."+u.Column)
		}
	}
	return names
}

// metaRows are the rows of meta besides the names of the log and of its key.
// What a recorder notes there is a number.
var metaRows = []string{prunedAtKey, metaGeneration, metaSearched, metaUnmerged}

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
func (v *verification) lackLastCheckpoint() { v.lackCheckpoint(maxInteger) }

// listedTools is what a list of tools says about texts of definitions.
type listedTools struct {
	n    int64
	refs []ToolRef
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
