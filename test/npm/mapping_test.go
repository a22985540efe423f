package npmtest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example mappings are for servers that change with each release; what they
// map must be there and be called so.
func TestTheExampleMappingsFitTheirServers(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	for _, name := range []string{"filesystem", "memory", "everything"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverNamed(t, name)
			mapping := filepath.Join(folder, "..", "..", "examples", name+".yaml")
			if printed, err := runDeed(t, append([]string{"map", "check", mapping, "--"}, server...)); err != nil {
				t.Errorf("%v\n%s", err, printed)
			} else if !strings.Contains(printed, "fits the server") {
				t.Errorf("it says\n%s", printed)
			}
		})
	}
}

// What deed map draft prints for a real server is a mapping that fits it.
func TestADraftForARealServerFitsIt(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	for _, name := range []string{"filesystem", "memory", "everything", "sequential-thinking"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverNamed(t, name)
			draft, err := runDeed(t, append([]string{"map", "draft", "--all", "--"}, server...))
			if err != nil {
				t.Fatalf("%v\n%s", err, draft)
			}
			check := exec.Command(deed, append([]string{"map", "check", "-", "--"}, server...)...)
			check.Stdin = strings.NewReader(draft)
			if printed, err := check.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, printed, draft)
			}
		})
	}
}

// serverNamed is the command of a server of the protocol's own project.
func serverNamed(t *testing.T, name string) []string {
	t.Helper()
	command := []string{"node", filepath.Join(folder, "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")}
	if name == "filesystem" {
		command = append(command, t.TempDir())
	}
	return command
}

// runDeed returns what a command prints, on both streams if it fails.
func runDeed(t *testing.T, args []string) (string, error) {
	t.Helper()
	command := exec.Command(deed, args...)
	var said bytes.Buffer
	command.Stderr = &said
	printed, err := command.Output()
	if err != nil {
		return string(printed) + said.String(), err
	}
	return string(printed), nil
}
