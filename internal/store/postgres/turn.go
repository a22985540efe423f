package postgres

import (
	"hash/fnv"
	"strconv"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// turnTables is how many tables there are for turns, by the migration that makes them.
const turnTables = 32

func turnTable(n uint32) string { return "turn_" + strconv.FormatUint(uint64(n), 10) }

// turnOf is the table of a workspace: the same for each process on the database. Two
// workspaces with one table wait for each other and are otherwise right.
func turnOf(w access.WorkspaceID) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w)) // never fails
	return turnTable(h.Sum32() % turnTables)
}

// takeTurn waits for the turn of a unit. A lock on a table is the one thing that a
// transaction of REPEATABLE READ can wait for before it has a snapshot: a lock of any
// other kind is asked for by a query, which takes the snapshot first, and so would not
// show what the unit waited for. It is held until the transaction ends, however it ends,
// and costs no round trip of its own.
//
// ROW SHARE suffers itself and not EXCLUSIVE; EXCLUSIVE suffers neither. Whoever waits
// for EXCLUSIVE is passed by nobody who comes later.
func takeTurn(w access.WorkspaceID, t store.Turn) sqlstore.Call {
	mode := "ROW SHARE"
	if t == store.Alone {
		mode = "EXCLUSIVE"
	}
	return sqlstore.Call{Name: "turn", SQL: "LOCK TABLE " + turnOf(w) + " IN " + mode + " MODE"}
}
