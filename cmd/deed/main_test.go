package main

import (
	"bytes"
	"database/sql"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts compare with anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"deed": main})
}

// TestScripts runs every command the way a user does. Each script begins with
// an empty home, in a zone of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Cmds:                scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("DEED_HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			env.Values[scriptServersKey{}] = map[string]*scriptServer{}
			return nil
		},
	})
}

// scriptCommands are what scripts can do beside running programs.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"fill": fill, "unread": unread, "tamper": tamper,
		"serve": serveInScript, "end": endInScript, "fetch": fetchInScript, "furnish": furnishInScript,
		"hold": holdInScript, "tell": tellInScript, "certificate": certificateInScript, "shown": shownInScript,
		"link": linkInScript, "keep": keepInScript, "facts": factsInScript, "soon": soonInScript, "mode": modeInScript,
	}
}

// unread runs a command whose output nobody reads, as head leaves it once it
// has seen enough: it must end with 0 and without a word.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: unread COMMAND [ARGUMENT...]")
	}
	program := ""
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		if candidate := filepath.Join(folder, args[0]); program == "" && isFile(candidate) {
			program = candidate
		}
	}
	reader, writer, err := os.Pipe()
	ts.Check(err)
	ts.Check(reader.Close())
	defer writer.Close()
	var complaint bytes.Buffer
	command := exec.Command(program, args[1:]...)
	command.Env = []string{"DEED_HOME=" + ts.Getenv("DEED_HOME"), "TZ=UTC"}
	command.Stdout, command.Stderr = writer, &complaint
	if err := command.Run(); err != nil || complaint.Len() > 0 {
		ts.Fatalf("%s: %v, saying %q", strings.Join(args, " "), err, complaint.String())
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// tamper changes the journal with SQL, as somebody could who can write it.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tamper SQL")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("DEED_HOME"), "journal-v1.db"))
	ts.Check(err)
	defer db.Close()
	result, err := db.Exec(args[0])
	ts.Check(err)
	if changed, err := result.RowsAffected(); err != nil || changed == 0 {
		ts.Fatalf("it changed nothing: %v", err)
	}
}
