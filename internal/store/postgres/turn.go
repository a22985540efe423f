package postgres

import (
	"hash/fnv"
	"strconv"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// turnTables is how many tables of each kind there are for turns, by the migrations that
// make them.
const turnTables = 32

func turnTable(n uint32) string { return "turn_" + strconv.FormatUint(uint64(n), 10) }

// evaluatingTable is locked by whoever evaluates, and by nobody else.
func evaluatingTable(n uint32) string { return "evaluating_" + strconv.FormatUint(uint64(n), 10) }

// turnOf is which of the tables is a workspace's: the same for each process on the
// database. Two workspaces with one table wait for each other and are otherwise right.
func turnOf(w access.WorkspaceID) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w)) // never fails
	return h.Sum32() % turnTables
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
	table, mode := turnTable(turnOf(w)), "EXCLUSIVE"
	switch t {
	case store.Together:
		mode = "ROW SHARE"
	case store.Evaluating:
		table = evaluatingTable(turnOf(w))
	}
	return sqlstore.Call{Name: "turn", SQL: "LOCK TABLE " + table + " IN " + mode + " MODE"}
}
