package postgres_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

func TestADatabaseThatIsNotThereIsToldInOneLineAndOnce(t *testing.T) {
	t.Parallel()
	// Without sslmode the driver tries each address with TLS and without.
	for _, open := range []string{"open", "look"} {
		_, err := postgres.Open(t.Context(), "postgres://deed:geheim@127.0.0.1:1/deed")
		if open == "look" {
			_, err = postgres.Look(t.Context(), "postgres://deed:geheim@127.0.0.1:1/deed")
		}
		if !errors.As(err, new(*postgres.ConnectError)) {
			t.Fatalf("%s: %v", open, err)
		}
		const want = "connect to the database: 127.0.0.1:1: connect: connection refused"
		if err.Error() != want {
			t.Errorf("%s: %q, want %q", open, err, want)
		}
	}
}

func TestWhatTheDatabaseAnswersIsTheReason(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t)
	for _, one := range []struct{ url, code, want string }{
		{cluster.URL("nowhere", "postgres"), "3D000", `connect to the database: database "nowhere" does not exist`},
		{cluster.URL("postgres", "nobody-1"), "28000", `connect to the database: role "nobody-1" does not exist`},
	} {
		_, err := postgres.Open(t.Context(), one.url)
		refused, is := errors.AsType[*postgres.ConnectError](err)
		if !is || refused.Code != one.code || err.Error() != one.want {
			t.Errorf("%v, want %s", err, one.want)
		}
	}
}

func TestARoleWithoutRightsIsToldWhichItNeeds(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, `CREATE ROLE "poor-1" LOGIN`, "CREATE DATABASE others")
	_, err := postgres.Open(t.Context(), cluster.URL("others", "poor-1"))
	rights, is := errors.AsType[*postgres.RightsError](err)
	if !is {
		t.Fatalf("%v", err)
	}
	if rights.Role != `"poor-1"` || rights.Database != "others" || rights.Schema != "public" {
		t.Errorf("it is about %s in %s.%s", rights.Role, rights.Database, rights.Schema)
	}
	// What is told to be granted is enough.
	admin := connect(t, cluster.URL("others", "postgres"),
		"GRANT CONNECT, CREATE ON DATABASE "+rights.Database+" TO "+rights.Role,
		"GRANT USAGE, CREATE ON SCHEMA "+rights.Schema+" TO "+rights.Role)
	open(t, cluster.URL("others", "poor-1"))
	if got := count(t, admin, `SELECT count(*) FROM pg_tables WHERE tableowner = 'poor-1' AND tablename = 'wakes'`); got != 1 {
		t.Error("it made no tables")
	}
}

// withoutTLS is where a database would be that has no TLS and lets nobody in.
func withoutTLS(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go refuse(conn)
		}
	}()
	return l.Addr().String()
}

func refuse(conn net.Conn) {
	defer conn.Close()
	const sslRequest = 80877103
	for {
		head := make([]byte, 8) // length and request
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		if binary.BigEndian.Uint32(head[4:]) == sslRequest {
			_, _ = conn.Write([]byte("N"))
			continue
		}
		no, err := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "wrong password"}).Encode(nil)
		if err == nil {
			_, _ = conn.Write(no)
		}
		// Closed with something unread, the answer might be lost.
		_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head))-int64(len(head)))
		return
	}
}

func TestThatADatabaseHasNoTLSOnlyMattersWhereItIsDemanded(t *testing.T) {
	t.Parallel()
	at := withoutTLS(t)
	for mode, want := range map[string]string{
		"prefer":  "connect to the database: wrong password",
		"require": "connect to the database: " + at + " (127.0.0.1): tls error: server refused TLS connection",
	} {
		_, err := postgres.Open(t.Context(), "postgres://deed:geheim@"+at+"/deed?sslmode="+mode)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
	}
}
