package sqlstore

// Table is a table and what the server may do with its rows.
type Table struct {
	Name string
	// Directory says that it holds what is asked before a workspace is known. All
	// others have a column workspace_id, and row-level security where there is one.
	Directory bool
	// May is what the server's role may do besides reading: a list of privileges as
	// PostgreSQL writes it. What is kept for ever is INSERT alone.
	May string
	// Overview are the columns that may be read of all workspaces at once, to find out
	// in which of them something waits: a list as PostgreSQL writes it. They say nothing
	// about what it is. Empty: none.
	Overview string

	shared bool // of the directory, and a tenant's statement may read all of it
}

// Tables lists every table. What is not in it cannot be used by a statement, and a
// test finds each table of the database here.
func Tables() []Table { return append([]Table(nil), tables...) }

var tables = []Table{
	// What agents declare and what systems of record say is kept for ever.
	{Name: "actions", May: "INSERT"},
	{Name: "declarations", May: "INSERT"},
	{Name: "action_links", May: "INSERT"},
	{Name: "limit_entries", May: "INSERT"},
	{Name: "settled", May: "INSERT"},
	{Name: "facts", May: "INSERT"},
	{Name: "fact_refs", May: "INSERT"},
	{Name: "fact_moves", May: "INSERT"},
	{Name: "fact_kinds", May: "INSERT"},

	// What follows from it, and what is waited for.
	{Name: "verdicts", May: "INSERT, UPDATE"},
	{Name: "standings", May: "INSERT, UPDATE"},
	{Name: "waits", May: "INSERT, DELETE"},
	{Name: "wakes", May: "INSERT, UPDATE, DELETE", Overview: "workspace_id, due_at, id"},
	{Name: "limit_sums", May: "INSERT, DELETE"},
	{Name: "limit_summed", May: "INSERT, UPDATE"},
	{Name: "source_tallies", May: "INSERT, DELETE"},

	{Name: "sources", May: "INSERT, UPDATE"},
	{Name: "watermarks", May: "INSERT, UPDATE"},

	// Contracts: the text is kept for ever, what it is used for changes.
	{Name: "contract_versions", May: "INSERT"},
	{Name: "contract_states", May: "INSERT, UPDATE"},
	{Name: "contract_types", May: "INSERT"},
	{Name: "contract_approvals", May: "INSERT"},

	// What was done, and what a ledger keeps of it.
	{Name: "audit_entries", May: "INSERT"},
	{Name: "declared_counts", May: "INSERT, DELETE"},
	{Name: "leaves", May: "INSERT, UPDATE (number)", Overview: "workspace_id, number, id"},
	{Name: "ledgers", May: "INSERT, UPDATE"},
	{Name: "ledger_nodes", May: "INSERT"},
	{Name: "secrets", May: "INSERT, UPDATE"},

	// The directory.
	{Name: "workspaces", Directory: true, May: "INSERT, UPDATE, DELETE", Overview: "workspace_id"},
	{Name: "people", Directory: true, May: "INSERT, UPDATE", shared: true},
	{Name: "memberships", Directory: true, May: "INSERT, UPDATE, DELETE"},
	{Name: "api_keys", Directory: true, May: "INSERT, UPDATE, DELETE"},
	{Name: "sessions", Directory: true, May: "INSERT, UPDATE, DELETE"},
	{Name: "sign_ins", Directory: true, May: "INSERT, UPDATE, DELETE"},
	{Name: "installation", Directory: true, May: "INSERT"},
	{Name: "turns", Directory: true, May: "INSERT, UPDATE"},
}

func tableNamed(name string) *Table {
	for i := range tables {
		if tables[i].Name == name {
			return &tables[i]
		}
	}
	return nil
}
