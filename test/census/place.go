package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/deed-dev/deed/internal/baseline"
)

// place is where one server runs: an empty folder, an empty home, and a
// journal of its own, so that nothing of the machine is in its answers.
type place struct {
	server server
	deed   string
	parts  string
	root   string
	work   string
	stderr bytes.Buffer
}

func newPlace(c *census, s server) (*place, error) {
	root, err := os.MkdirTemp("", "deed-census-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the server: %w", err)
	}
	p := &place{server: s, deed: c.deed, parts: c.parts, root: root, work: filepath.Join(root, "work")}
	for _, dir := range []string{p.work, filepath.Join(root, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make a folder for the server: %w", err), p.remove())
		}
	}
	return p, nil
}

func (p *place) remove() error {
	if err := os.RemoveAll(p.root); err != nil {
		return fmt.Errorf("remove the folder of the server: %w", err)
	}
	return nil
}

// environment is small and the same on every machine, but for the PATH.
func (p *place) environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.root, "home"), "DEED_HOME=" + filepath.Join(p.root, "journal"),
		"TMPDIR=" + os.TempDir(), "TZ=UTC", "LANG=C.UTF-8", "CI=1", "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1", "npm_config_offline=true",
	}
	for _, pair := range p.server.env {
		env = append(env, strings.ReplaceAll(pair, "$WORK", p.work))
	}
	return env
}

// sighting is what the journal has of a session.
type sighting struct {
	declaredBytes int64
	sizes, times  map[string][]int64 // of the successful answers, by tool
	failed        map[string]int
}

// line is what the census reads of a line of deed tail --json.
type line struct {
	Kind, Method, Tool, Outcome string
	From                        string
	Returned                    *int64 `json:"returned_bytes"`
	TookUS                      *int64 `json:"took_us"`
}

// journalled asks deed tail for all requests of the session.
func (p *place) journalled(ctx context.Context) (*sighting, error) {
	cmd := exec.CommandContext(ctx, p.deed, "tail", "--json", "--all", "-n", "1000000")
	cmd.Env = p.environment()
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask deed tail: %w\n%s", err, complaint.String())
	}
	return sight(text)
}

// sight sorts the lines by tool. A gap makes all figures doubtful.
func sight(text []byte) (*sighting, error) {
	s := &sighting{sizes: map[string][]int64{}, times: map[string][]int64{}, failed: map[string]int{}}
	for raw := range bytes.Lines(text) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, fmt.Errorf("read deed tail: %w", err)
		}
		switch {
		case l.Kind == "gap":
			return nil, errors.New("the journal has a gap, so its sizes are not all of them; measure on a quieter machine")
		case l.From != "client":
			continue
		case l.Method == "tools/list" && l.Returned != nil:
			s.declaredBytes += *l.Returned
		case l.Method != "tools/call":
			continue
		case l.Outcome == "ok" && l.Returned != nil && l.TookUS != nil:
			s.sizes[l.Tool] = append(s.sizes[l.Tool], *l.Returned)
			s.times[l.Tool] = append(s.times[l.Tool], *l.TookUS)
		default:
			s.failed[l.Tool]++
		}
	}
	return s, nil
}

func (s *sighting) tool(name string) baseline.Tool {
	return baseline.Tool{
		Name: name, Failed: s.failed[name],
		WireBytes: baseline.SpreadOf(s.sizes[name]), TookP50US: baseline.SpreadOf(s.times[name]).P50,
	}
}
