package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/vault"
)

// Its tables it may make, and the schema of the jobs not: a server that started would
// fail at them again and again.
func TestAServerWhoseRoleMayNotMakeSchemasIsToldAtItsStart(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, `CREATE ROLE "poor-1" LOGIN`, "CREATE DATABASE others")
	admin, err := pgx.Connect(t.Context(), cluster.URL("others", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	if _, err := admin.Exec(t.Context(), `GRANT USAGE, CREATE ON SCHEMA public TO "poor-1"`); err != nil {
		t.Fatal(err)
	}
	config := &setting.Config{
		Database: cluster.URL("others", "poor-1"), SecretFile: filepath.Join(t.TempDir(), "deed.secret"),
		Listen: "127.0.0.1:0", ShutdownLimit: time.Minute, WorkspaceName: "main", OwnerEmail: "owner@localhost",
	}
	if _, err := vault.LoadOrMake(config.SecretFile); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	_, err = tryInner(t, config, &turnedClock{}, log)
	if err == nil {
		t.Fatal("it started")
	}
	text := exitText(err)
	_, grant, found := strings.Cut(text, "let a superuser run: ")
	grant, _, _ = strings.Cut(grant, "\n")
	if !found || codeOf(err) != exitNegative {
		t.Fatalf("exit code %d: %s", codeOf(err), text)
	}
	if _, err := admin.Exec(t.Context(), grant); err != nil { // and it is enough
		t.Fatalf("%s: %v", grant, err)
	}
	s, err := tryInner(t, config, &turnedClock{}, log)
	if err != nil {
		t.Fatal(err)
	}
	s.end(t)
}
