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

// guardLock keeps instances that start together apart: any number that nobody
// else takes.
const guardLock = 0x6465_6564

const policy = "deed_workspace"

// guard gives each table its policy and the role its rights, whatever they were
// before, and returns the role.
func guard(ctx context.Context, conn *pgx.Conn) (string, error) {
	role, err := makeRole(ctx, conn)
	if err != nil {
		return "", err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", guardLock); err != nil {
		return "", err
	}
	for _, t := range sqlstore.Tables() {
		if err := guardTable(ctx, tx, t, role); err != nil {
			return "", fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if role != "" {
		if err := grantSchema(ctx, tx, role); err != nil {
			return "", err
		}
	}
	return role, tx.Commit(ctx)
}

// guardTable changes what is not as it should be, and nothing else: a change of a
// table waits for whoever uses it.
func guardTable(ctx context.Context, tx pgx.Tx, t sqlstore.Table, role string) error {
	var secured, forced, hasPolicy bool
	err := tx.QueryRow(ctx, `SELECT c.relrowsecurity, c.relforcerowsecurity,
		EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = $2)
		FROM pg_class c WHERE c.oid = to_regclass($1)`, t.Name, policy).Scan(&secured, &forced, &hasPolicy)
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

// makeRole makes the role and lets the database's user take it. Where the user may
// not make roles there is none, and row-level security, which binds the tables'
// owner too, is what remains.
func makeRole(ctx context.Context, conn *pgx.Conn) (string, error) {
	var there, member bool
	var user string
	look := func() error {
		return conn.QueryRow(ctx, `SELECT current_user,
			EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1),
			EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER'))`,
			runtimeRole).Scan(&user, &there, &member)
	}
	if err := look(); err != nil {
		return "", err
	}
	if !there {
		_, err := conn.Exec(ctx, "CREATE ROLE "+runtimeRole+" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT")
		switch {
		case has(err, "42501"): // insufficient_privilege
			return "", nil
		case err != nil && !has(err, "42710", "23505"): // another instance made it
			return "", fmt.Errorf("make the role %s: %w", runtimeRole, err)
		}
	}
	if !member {
		_, err := conn.Exec(ctx, "GRANT "+runtimeRole+" TO "+pgx.Identifier{user}.Sanitize())
		if has(err, "42501") {
			return "", nil
		}
		if err := errors.Join(err, look()); err != nil && !member {
			return "", fmt.Errorf("let %s take the role %s: %w", user, runtimeRole, err)
		}
	}
	var strong bool
	err := conn.QueryRow(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1", runtimeRole).Scan(&strong)
	if err == nil && strong {
		err = fmt.Errorf("the role %s may see every workspace: take SUPERUSER and BYPASSRLS from it", runtimeRole)
	}
	return runtimeRole, err
}

// has says whether an error of the database has one of these codes.
func has(err error, codes ...string) bool {
	failure, is := errors.AsType[*pgconn.PgError](err)
	return is && strings.Contains(strings.Join(codes, " "), failure.Code)
}
