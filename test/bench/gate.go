package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The names of the ways through deed, with a mapping and without.
const (
	wayPlain    = "deed run"
	wayUnmapped = "deed run --map, a tool that is not mapped"
	wayMapped   = "deed run --map, a mapped tool"
)

// taken is what the server answers to every declaration, at once.
const taken = `{"recorded":"new"}`

// measureGate times calls with a mapping loaded beside calls without one, and
// calls whose action is declared to a server that answers at once.
func measureGate(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Calls that pass a gate",
		header: []string{"Way", "n", "Median", "p99", "Added at the median"},
	}
	if b.deed == "" {
		s.remark("Nothing is measured without deed.")
		return s, nil
	}
	api, stop, err := b.startAPI(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	ways, err := b.gatedWays(api)
	if err != nil {
		return nil, err
	}
	lines := make([]*line, len(ways))
	for i, way := range ways {
		if lines[i], err = way.open(ctx, b.server(smallAnswer)); err != nil {
			return nil, err
		}
	}
	samples := make([]sample, len(ways))
	var own sample // of the server alone
	turns := max(1, b.dose.gated/b.dose.block)
	for turn := 0; turn <= turns; turn++ { // turn 0 warms up and does not count
		for _, i := range rotate(len(ways), turn) {
			count := b.dose.block
			if ways[i].name == wayMapped {
				count = max(1, count/10)
			}
			took, err := callBlock(lines[i], count, smallAnswer)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				samples[i] = append(samples[i], took...)
			}
		}
		took, err := declareBlock(ctx, api, max(1, b.dose.block/10))
		if err != nil {
			return nil, err
		}
		if turn > 0 {
			own = append(own, took...)
		}
	}
	for _, line := range lines {
		if err := line.close(); err != nil {
			return nil, err
		}
	}
	gateRows(s, ways, samples, own)
	return s, b.checkJournal(ctx, ways, s)
}

func gateRows(s *section, ways []way, samples []sample, own sample) {
	medians := map[string]time.Duration{}
	for i, way := range ways {
		medians[way.name] = samples[i].median()
		s.row(way.name, fmt.Sprint(len(samples[i])), micros(samples[i].median()), micros(samples[i].p99()),
			micros(medians[way.name]-samples[0].median()))
	}
	s.row("the server's own answer, without deed", fmt.Sprint(len(own)), micros(own.median()), micros(own.p99()), "–")
	plain, unmapped := medians[wayPlain], medians[wayUnmapped]
	more := medians[wayMapped] - plain - own.median()
	s.remark("A mapped call is durable in the journal and declared before it goes on.")
	s.figures = append(s.figures,
		figure{
			what:   "round trip of an unmapped call with a mapping, to one without",
			target: "≤ 1.10×", value: times(unmapped, plain), met: float64(unmapped) <= 1.1*float64(plain),
		},
		figure{
			what:   "a mapped call, more than an unmapped one and the server's own answer",
			target: "≤ 2 ms", value: micros(more), met: more <= 2*time.Millisecond,
		})
}

// gatedWays are the ways through deed, each with a home of its own.
func (b *bench) gatedWays(api string) ([]way, error) {
	var list []way
	for _, one := range []struct{ name, tool string }{{wayPlain, ""}, {wayUnmapped, "refund"}, {wayMapped, "echo"}} {
		home, err := b.newHome()
		if err != nil {
			return nil, err
		}
		command := []string{b.deed, "run", "--label", "bench"}
		if one.tool != "" {
			mapping := filepath.Join(filepath.Dir(home), "mapping.json")
			text := fmt.Sprintf(`{"tools":{%q:{"contract_id":"bench","subject":"arguments.text"}}}`, one.tool)
			if err := os.WriteFile(mapping, []byte(text), 0o600); err != nil {
				return nil, fmt.Errorf("write a mapping: %w", err)
			}
			command = append(command, "--map", mapping)
		}
		list = append(list, way{
			name: one.name, home: home, env: []string{"DEED_API_URL=" + api, "DEED_API_KEY=spk_bench"},
			wrap: func(server []string) []string {
				return append(append(command[:len(command):len(command)], "--"), server...)
			},
		})
	}
	return list, nil
}

// startAPI starts what takes declarations, as a process of its own: one that
// answers from within the process that asks spares what a call to any other costs.
func (b *bench) startAPI(ctx context.Context) (address string, stop func(), err error) {
	server := exec.CommandContext(ctx, b.self, childWord, "api")
	server.Stderr = b.progress
	stdin, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, fmt.Errorf("start a server: %w", err)
	}
	stop = func() {
		_ = stdin.Close()
		_ = server.Wait()
	}
	address, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("read the address of a server: %w", err)
	}
	return strings.TrimSpace(address), stop, nil
}

// serveAPI takes declarations until in ends. It first says where.
func serveAPI(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, taken)
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	if _, err := fmt.Fprintf(out, "http://%s\n", listener.Addr()); err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// declareBlock times declarations as deed sends them.
func declareBlock(ctx context.Context, api string, count int) (sample, error) {
	body := bytes.Repeat([]byte("x"), 300)
	block := make(sample, count)
	for i := range block {
		began := time.Now()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, api+"/v1/actions", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, fmt.Errorf("declare: %w", err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		block[i] = time.Since(began)
	}
	return block, nil
}
