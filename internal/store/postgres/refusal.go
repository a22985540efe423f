package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ConnectError says why there is no connection to the database, in one line. It never
// holds a password.
type ConnectError struct {
	Role, Database string // as a statement names them
	Code           string // what the database answered; empty if it did not
	reasons        []string
	err            error
}

func (e *ConnectError) Error() string {
	return "connect to the database: " + strings.Join(e.reasons, "; ")
}

func (e *ConnectError) Unwrap() error { return e.err }

// RightsError says that the URL's role may not do what a start has to do.
type RightsError struct {
	Role, Database, Schema string // as a statement names them
	err                    error
}

func (e *RightsError) Error() string {
	return fmt.Sprintf("the role %s lacks rights in the database %s: %v", e.Role, e.Database, e.err)
}

func (e *RightsError) Unwrap() error { return e.err }

// refusal is what an error of a start means.
func refusal(config *pgx.ConnConfig, err error) error {
	role, database := identifier(config.User), identifier(config.Database)
	if has(err, "42501", "3F000") { // insufficient_privilege, and no schema that it may use
		schema, _, _ := strings.Cut(config.RuntimeParams["search_path"], ",")
		if schema == "" {
			schema = "public"
		}
		answer, _ := errors.AsType[*pgconn.PgError](err)
		return &RightsError{Role: role, Database: database, Schema: schema, err: &answered{answer}}
	}
	failure, is := errors.AsType[*pgconn.ConnectError](err)
	if !is {
		return err
	}
	e := &ConnectError{Role: role, Database: database, reasons: reasons(failure.Unwrap()), err: err}
	if answer, is := errors.AsType[*pgconn.PgError](err); is {
		e.Code = answer.Code
	}
	return e
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// identifier writes a name as a statement takes it.
func identifier(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// answered is what the database said, in its own words and without its codes.
type answered struct{ *pgconn.PgError }

func (a *answered) Error() string { return a.Message }
func (a *answered) Unwrap() error { return a.PgError }

// refusedTLS is what the driver says before it tries without TLS, where it may.
const refusedTLS = "server refused TLS connection"

// reasons are why each attempt failed, each once. That a server has no TLS only
// matters where there was no other attempt.
func reasons(err error) []string {
	var all []string
	for _, attempt := range attempts(err) {
		if text := reason(attempt); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(text string) bool { return strings.HasSuffix(text, refusedTLS) })
	if len(rest) > 0 {
		return rest
	}
	return all
}

// attempts are the errors that were joined.
func attempts(err error) []error {
	joined, is := err.(interface{ Unwrap() []error })
	if !is {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, attempts(one)...)
	}
	return all
}

func reason(err error) string {
	if answer, is := errors.AsType[*pgconn.PgError](err); is {
		return answer.Message
	}
	if name, is := errors.AsType[*net.DNSError](err); is {
		return fmt.Sprintf("look up %s: %s", name.Name, name.Err)
	}
	if dial, is := errors.AsType[*net.OpError](err); is && dial.Addr != nil {
		return fmt.Sprintf("%s: %v", dial.Addr, dial.Err)
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if where, _, found := strings.Cut(text, "): "); found && errors.Is(err, context.DeadlineExceeded) {
		return where + "): no answer in time" // to whichever attempt
	}
	return text
}
