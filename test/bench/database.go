package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver of the bare loop

	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

// postgresDefaults take back what pgtest sets for its many tests, so that the
// server that is measured is as its package installs it: commits are durable.
var postgresDefaults = []string{"fsync=on", "full_page_writes=on", "shared_buffers=128MB", "max_wal_size=1GB", "log_min_messages=warning"}

// database is a database on the PostgreSQL of this run.
type database struct {
	name   string
	url    string
	server string // where databases are made
}

// postgres is the URL of the PostgreSQL of this run: the one that was given, or else one
// of our own, which starts at the first call.
func (b *bench) postgres() (string, error) {
	if b.postgresURL == "" && b.noServer == nil {
		c, err := pgtest.Run(postgresDefaults...)
		if err != nil {
			b.noServer = err
			return "", err
		}
		b.postgresURL = c.URL("postgres", "postgres")
	}
	return b.postgresURL, b.noServer
}

// newDatabase makes an empty database.
func (b *bench) newDatabase(ctx context.Context) (*database, error) {
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	where, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("read the URL of PostgreSQL: it is none")
	}
	b.databases++
	d := &database{name: fmt.Sprintf("deed_bench_%d", b.databases), server: server}
	where.Path = "/" + d.name
	d.url = where.String()
	return d, execute(ctx, server, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)", "CREATE DATABASE "+d.name)
}

// drop removes it, which frees the disk for the next one.
func (d *database) drop(ctx context.Context) error {
	return execute(ctx, d.server, "DROP DATABASE "+d.name+" WITH (FORCE)")
}

func execute(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("run %.60q: %w", statement, err)
		}
	}
	return nil
}

// plainRow is a table that holds what the table of actions holds, with a primary key
// and no other index. It is made for both databases.
const plainRow = `CREATE TABLE plain_rows (id %s, workspace_id TEXT NOT NULL, ref TEXT NOT NULL, action_id TEXT NOT NULL,
	contract_id TEXT NOT NULL, action_type TEXT NOT NULL, subject_id TEXT NOT NULL, subject_kind TEXT NOT NULL, agent_id TEXT NOT NULL,
	workflow_id TEXT NOT NULL, start_at BIGINT NOT NULL, received_at BIGINT NOT NULL, body %s NOT NULL)`

const plainInsert = `INSERT INTO plain_rows (workspace_id, ref, action_id, contract_id, action_type, subject_id, subject_kind, agent_id, workflow_id, start_at, received_at, body)
	VALUES (%s)`

// leastPgbench is how many seconds it runs at least: on a busy machine it takes more
// than one until it is connected.
const leastPgbench = 4

// pgbench inserts single rows with as many clients, and says how many a second.
func (d *database) pgbench(ctx context.Context, dir string, clients int, span time.Duration) (crowding, error) {
	program, err := exec.LookPath("pgbench")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			return crowding{}, errors.New("pgbench is not installed (it is in the package postgresql-contrib or postgresql)")
		}
		program = found[len(found)-1]
	}
	script := filepath.Join(dir, "insert.pgbench")
	body := string(appendDeclaration(nil, 1, time.Now()))
	text := "\\set n random(1, 1000000000)\n" + fmt.Sprintf(plainInsert,
		"'ws_bench', 'act_' || :n, 'refund-o-' || :n, 'refund_workflow', 'refund_order', 'o-' || :n, 'order', 'support-bot', 'refunds', :n, :n, '"+body+"'") + ";\n"
	text = strings.ReplaceAll(text, "\n\t", " ")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return crowding{}, err
	}
	log := filepath.Join(dir, "pgbench-times")
	defer removeLogs(log)
	cmd := exec.CommandContext(ctx, program, "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(leastPgbench, int(span.Seconds()))), "-f", script, "-l", "--log-prefix", log, d.url)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return crowding{}, fmt.Errorf("run pgbench: %w: %.500s", err, told.String())
	}
	return readPgbench(out.String(), log)
}

var (
	pgbenchDone = regexp.MustCompile(`transactions actually processed: (\d+)`)
	pgbenchRate = regexp.MustCompile(`tps = ([0-9.]+)`)
)

// readPgbench reads pgbench's report and the times of its transactions.
func readPgbench(report, log string) (crowding, error) {
	done, rate := pgbenchDone.FindStringSubmatch(report), pgbenchRate.FindStringSubmatch(report)
	if done == nil || rate == nil {
		return crowding{}, fmt.Errorf("pgbench says %.500q, which has no rate", report)
	}
	var c crowding
	var tps float64
	var err error
	if c.done, err = strconv.ParseInt(done[1], 10, 64); err != nil {
		return c, err
	}
	if tps, err = strconv.ParseFloat(rate[1], 64); err != nil || tps <= 0 {
		return c, fmt.Errorf("pgbench says %q transactions a second", rate[1])
	}
	c.took = time.Duration(float64(c.done) / tps * float64(time.Second))
	logs, err := filepath.Glob(log + ".*")
	if err != nil {
		return c, err
	}
	for _, path := range logs {
		file, err := os.Open(path)
		if err != nil {
			return c, err
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// client, transaction, microseconds, script, …
			if fields := strings.Fields(lines.Text()); len(fields) > 2 {
				if us, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
					c.answers = append(c.answers, time.Duration(us)*time.Microsecond)
				}
			}
		}
		file.Close()
	}
	return c, nil
}

func removeLogs(prefix string) {
	logs, _ := filepath.Glob(prefix + ".*")
	for _, path := range logs {
		_ = os.Remove(path)
	}
}

// bareSQLite inserts single rows, each durable before the next: what a program with
// no idea of its own would do.
type bareSQLite struct {
	db     *sql.DB
	insert *sql.Stmt
	n      int64
}

func openBareSQLite(ctx context.Context, path string) (*bareSQLite, error) {
	pragmas := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &bareSQLite{db: db}
	if _, err = db.ExecContext(ctx, fmt.Sprintf(plainRow, "INTEGER PRIMARY KEY", "BLOB")); err == nil {
		s.insert, err = db.PrepareContext(ctx, fmt.Sprintf(plainInsert, strings.TrimSuffix(strings.Repeat("?,", 12), ",")))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare SQLite: %w", err), db.Close())
	}
	return s, nil
}

// row is one row as its values.
func plainValues(n int64) []any {
	now := time.Now()
	return []any{
		"ws_bench", fmt.Sprint("act_", n), fmt.Sprint("refund-o-", n), "refund_workflow", "refund_order", fmt.Sprint("o-", n), "order",
		"support-bot", "refunds", now.UnixMicro(), now.UnixMicro(), appendDeclaration(nil, n, now),
	}
}

// one inserts a row and commits it.
func (s *bareSQLite) one(ctx context.Context) error {
	s.n++
	_, err := s.insert.ExecContext(ctx, plainValues(s.n)...)
	return err
}

// many inserts rows in one transaction.
func (s *bareSQLite) many(ctx context.Context, rows int) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	insert := tx.StmtContext(ctx, s.insert)
	for range rows {
		s.n++
		if _, err := insert.ExecContext(ctx, plainValues(s.n)...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// copyIn inserts rows with COPY, the fastest way there is into PostgreSQL.
func copyIn(ctx context.Context, conn *pgx.Conn, first int64, rows int) error {
	columns := []string{
		"workspace_id", "ref", "action_id", "contract_id", "action_type", "subject_id", "subject_kind", "agent_id", "workflow_id",
		"start_at", "received_at", "body",
	}
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"plain_rows"}, columns, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
		values := plainValues(first + int64(i))
		values[11] = string(values[11].([]byte))
		return values, nil
	}))
	return err
}

// spent is the time on the processor of a process with its children, where the
// system tells it.
func spent(pid int) time.Duration {
	children := map[int][]int{}
	own := map[int]time.Duration{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		name := strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[name+1:]))
		if name < 0 || len(fields) < 15 {
			continue
		}
		id, _ := strconv.Atoi(strings.Split(path, "/")[2])
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], id)
		for _, at := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime in 1/100 s
			ticks, _ := strconv.ParseInt(fields[at], 10, 64)
			own[id] += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	total := time.Duration(0)
	for queue := []int{pid}; len(queue) > 0; {
		id := queue[0]
		queue = slices.Concat(queue[1:], children[id])
		total += own[id]
	}
	return total
}

// spent is that of the PostgreSQL server.
func (d *database) spent() time.Duration {
	where, err := url.Parse(d.url)
	if err != nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(where.Query().Get("host"), "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0
	}
	return spent(pid)
}
