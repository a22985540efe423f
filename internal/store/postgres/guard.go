package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// runtimeRole is the role of units. It is the same for all databases of a server
// and has rights only where tables are guarded.
const runtimeRole = "deed_runtime"

// overviewRole sees of all workspaces in which of them something waits: the columns of
// [sqlstore.Table.Overview] and nothing else.
const overviewRole = "deed_overview"

// guardLock keeps instances that start together apart: any number that nobody
// else takes.
const guardLock = 0x6465_6564

const policy = "deed_workspace"

// guard gives each table its policy and the role its rights, whatever they were
// before, and returns the role, and whether there is one for the overview.
func guard(ctx context.Context, conn *pgx.Conn) (role string, overview bool, err error) {
	if role, err = makeRole(ctx, conn, runtimeRole); err != nil {
		return "", false, err
	}
	over, err := makeRole(ctx, conn, overviewRole)
	if err != nil {
		return "", false, err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", guardLock); err != nil {
		return "", false, err
	}
	for _, t := range sqlstore.Tables() {
		if err := guardTable(ctx, tx, t, role, over); err != nil {
			return "", false, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if over != "" {
		if err := grantSchema(ctx, tx, over); err != nil {
			return "", false, err
		}
	}
	if role != "" {
		var tables []string
		for n := range uint32(turnTables) {
			tables = append(tables, turnTable(n), evaluatingTable(n))
		}
		if _, err := tx.Exec(ctx, "GRANT UPDATE ON "+strings.Join(tables, ", ")+" TO "+role); err != nil {
			return "", false, fmt.Errorf("the tables of turns: %w", err)
		}
		if err := grantSchema(ctx, tx, role); err != nil {
			return "", false, err
		}
	}
	return role, over != "", tx.Commit(ctx)
}

// guardTable changes what is not as it should be, and nothing else: a change of a
// table waits for whoever uses it.
func guardTable(ctx context.Context, tx pgx.Tx, t sqlstore.Table, role, over string) error {
	var secured, forced, hasPolicy, hasOverview bool
	err := tx.QueryRow(ctx, `SELECT c.relrowsecurity, c.relforcerowsecurity,
		EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = $2),
		EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = $3)
		FROM pg_class c WHERE c.oid = to_regclass($1)`, t.Name, policy, overviewRole).Scan(&secured, &forced, &hasPolicy, &hasOverview)
	if err != nil {
		return err
	}
	var changes []string
	if !t.Directory {
		if !hasPolicy {
			changes = append(changes, "CREATE POLICY "+policy+" ON "+t.Name+
				" USING (workspace_id = current_setting('deed.workspace', true))"+
				" WITH CHECK (workspace_id = current_setting('deed.workspace', true))")
		}
		if !secured {
			changes = append(changes, "ALTER TABLE "+t.Name+" ENABLE ROW LEVEL SECURITY")
		}
		if !forced {
			changes = append(changes, "ALTER TABLE "+t.Name+" FORCE ROW LEVEL SECURITY")
		}
	}
	if over != "" {
		changes = append(changes, "REVOKE ALL ON "+t.Name+" FROM "+over)
		if t.Overview != "" {
			changes = append(changes, "GRANT SELECT ("+t.Overview+") ON "+t.Name+" TO "+over)
		}
		if t.Overview != "" && !t.Directory && !hasOverview {
			// Who may take the role is not it: the tables' owner goes on seeing nothing.
			changes = append(changes, "CREATE POLICY "+overviewRole+" ON "+t.Name+" FOR SELECT TO "+over+" USING (current_user = '"+overviewRole+"')")
		}
	}
	if role != "" {
		changes = append(changes, "REVOKE ALL ON "+t.Name+" FROM "+role, "GRANT SELECT, "+t.May+" ON "+t.Name+" TO "+role)
	}
	for _, change := range changes {
		if _, err := tx.Exec(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

func grantSchema(ctx context.Context, tx pgx.Tx, role string) error {
	var schema string
	if err := tx.QueryRow(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "GRANT USAGE ON SCHEMA "+pgx.Identifier{schema}.Sanitize()+" TO "+role)
	return err
}

// makeRole makes a role and lets the database's user take it. Where the user may
// not make roles there is none, and row-level security, which binds the tables'
// owner too, is what remains.
func makeRole(ctx context.Context, conn *pgx.Conn, name string) (string, error) {
	var there, member bool
	var user string
	look := func() error {
		return conn.QueryRow(ctx, `SELECT current_user,
			EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1),
			EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER'))`,
			name).Scan(&user, &there, &member)
	}
	if err := look(); err != nil {
		return "", err
	}
	if !there {
		_, err := conn.Exec(ctx, "CREATE ROLE "+name+" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT")
		switch {
		case has(err, "42501"): // insufficient_privilege
			return "", nil
		case err != nil && !has(err, "42710", "23505"): // another instance made it
			return "", fmt.Errorf("make the role %s: %w", name, err)
		}
	}
	if !member {
		_, err := conn.Exec(ctx, "GRANT "+name+" TO "+pgx.Identifier{user}.Sanitize())
		if has(err, "42501") {
			return "", nil
		}
		if err := errors.Join(err, look()); err != nil && !member {
			return "", fmt.Errorf("let %s take the role %s: %w", user, name, err)
		}
	}
	var strong bool
	err := conn.QueryRow(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1", name).Scan(&strong)
	if err == nil && strong {
		err = fmt.Errorf("the role %s may see every workspace: take SUPERUSER and BYPASSRLS from it", name)
	}
	return name, err
}

// has says whether an error of the database has one of these codes.
func has(err error, codes ...string) bool {
	failure, is := errors.AsType[*pgconn.PgError](err)
	return is && strings.Contains(strings.Join(codes, " "), failure.Code)
}
