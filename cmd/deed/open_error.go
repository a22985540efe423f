package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/job"
	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/terminal"
)

// folderError says what to do where the data in a folder cannot be opened.
func folderError(err error) error {
	if problem, is := errors.AsType[*sqlite.FolderError](err); is {
		next := "name a folder of its own, which need not be there: --data DIR"
		if problem.Shared {
			next += "\nor, if this one is yours alone: chmod 700 " + problem.Folder
		}
		return terminal.WithHint(err, next)
	}
	switch {
	case errors.As(err, new(*sqlstore.ClockError)):
		return terminal.WithHint(err, "set the clock of this machine, then start again\nif the clock is right, and was ahead before: --accept-clock goes on from it; until that time has passed, contracts that were activated by the other clock do not govern what is declared")
	case errors.As(err, new(*sqlite.InUseError)):
		return terminal.WithHint(err, "is a server running? stop it first, or name another folder: --data DIR")
	case errors.As(err, new(*sqlite.DamagedError)):
		return terminal.WithHint(err, "restore the last backup into another folder: deed restore BACKUP --data DIR --secret-file FILE\nthe FILE is the one that is called secret, beside the database; leave this folder as it is until then")
	}
	return err
}

// lostSecretError says what to do where the secret of a database is gone.
func lostSecretError(path, fingerprint string) error {
	return terminal.WithHint(
		fmt.Errorf("the secret file is gone, and what is in the database was sealed with it (fingerprint %s)", fingerprint[:8]),
		"put it back from where you keep it: "+path+"\nor name it: --secret-file FILE\nno other one is made: it would not open the keys that sign the ledgers, and without it they are lost")
}

// databaseError says what to do where a database cannot be opened.
func databaseError(err error) error {
	if errors.As(err, new(*migration.VersionError)) {
		return err // it says so itself
	}
	if rights, is := errors.AsType[*postgres.RightsError](err); is {
		return terminal.WithHint(err, rightsHint(rights))
	}
	if rights, is := errors.AsType[*job.RightsError](err); is {
		return terminal.WithHint(err, jobsHint(rights))
	}
	next := "is the URL right, and may this machine reach the database?"
	if refused, is := errors.AsType[*postgres.ConnectError](err); is {
		switch {
		case strings.HasPrefix(refused.Code, "28"): // invalid authorization
			next = "are the user and the password in the URL right, and does pg_hba.conf let them in from here?"
		case refused.Code == "3D000": // no such database
			next = fmt.Sprintf("make it: CREATE DATABASE %s OWNER %s", refused.Database, refused.Role)
		}
	}
	return terminal.WithHint(err, next+"\nthe URL as it holds: deed serve --print-config")
}

// rightsHint is what gives a role the rights that it lacks.
func rightsHint(e *postgres.RightsError) string {
	return fmt.Sprintf(`it makes its tables itself; let a superuser run: ALTER DATABASE %[1]s OWNER TO %[2]s
or, so that it owns its tables alone: GRANT CONNECT, CREATE ON DATABASE %[1]s TO %[2]s; GRANT USAGE, CREATE ON SCHEMA %[3]s TO %[2]s
if another role made the tables, name that one in the URL`, e.Database, e.Role, e.Schema)
}

// jobsHint is what gives a role a place for the jobs.
func jobsHint(e *job.RightsError) string {
	return fmt.Sprintf(`let a superuser run: GRANT CREATE ON DATABASE %[1]s TO %[2]s
or, in that database, so that it owns the schema alone: CREATE SCHEMA deed_jobs AUTHORIZATION %[2]s`, e.Database, e.Role)
}
