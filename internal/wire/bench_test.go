package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// roleVariable makes the test binary a server or a copier instead of a test.
const roleVariable = "DEED_WIRE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "echo": // answers each line with itself
		bufferedEcho(os.Stdin, os.Stdout)
	case "flood": // writes what the benchmark asks for and ends
		flood(os.Stdout, floodBytes)
	case "bare", "relay-blocking", "relay-poller", "gated":
		copier(role)
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		os.Exit(2)
	}
}

const floodBytes = 1 << 30

func bufferedEcho(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		if _, err := out.Write(line); err != nil {
			return
		}
	}
}

func flood(out io.Writer, total int) {
	chunk := bytes.Repeat([]byte("a line of a long answer, sixty-four bytes with its line ending.\n"), 1024)
	for ; total > 0; total -= len(chunk) {
		if _, err := out.Write(chunk); err != nil {
			return
		}
	}
}

// copier stands between its own standard streams and the server named by its
// arguments, in one of several ways.
func copier(role string) {
	serverIn, toServer, _ := os.Pipe()
	fromServer, serverOut, _ := os.Pipe()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), roleVariable+"="+os.Args[1])
	server.Stdin, server.Stdout = serverIn, serverOut
	if err := server.Start(); err != nil {
		panic(err)
	}
	_ = serverIn.Close()
	_ = serverOut.Close()
	if role != "relay-poller" {
		fromServer.Fd() // sets it to blocking mode
	}

	var group sync.WaitGroup
	if role == "bare" {
		pump := func(dst io.Writer, src io.Reader) {
			buf := make([]byte, 64<<10)
			for {
				n, err := src.Read(buf)
				if n > 0 {
					if _, err := dst.Write(buf[:n]); err != nil {
						return
					}
				}
				if err != nil {
					return
				}
			}
		}
		group.Go(func() { pump(toServer, os.Stdin); _ = toServer.Close() })
		group.Go(func() { pump(os.Stdout, fromServer) })
	} else {
		client := NewInjector(os.Stdout)
		up := &Relay{Src: os.Stdin, Dst: toServer, From: FromClient, Tap: nopTap{}, Answers: client}
		if role == "gated" {
			up.Gate = passAll{}
		}
		down := &Relay{Src: fromServer, Dst: client, From: FromServer, Tap: nopTap{}}
		group.Go(func() { up.Run(); _ = toServer.Close() })
		group.Go(func() { down.Run(); up.Stop() })
	}
	group.Wait()
	_ = server.Wait()
}

type nopTap struct{}

func (nopTap) Offer(Direction, []byte) Place { return 1 }
func (nopTap) Settle(Place, int)             {}
func (nopTap) Close(Direction, int64)        {}

type passAll struct{}

func (passAll) Pass(*Line) <-chan Decision { return nil }

// chains are the ways to reach a server that the benchmarks set side by side.
func chains(server string) map[string][]string {
	self := os.Args[0]
	list := map[string][]string{"0-direct": {server, self}}
	for i, role := range []string{"bare", "relay-blocking", "relay-poller", "gated"} {
		list[fmt.Sprintf("%d-%s", i+1, role)] = []string{role, self, server}
	}
	if socat, err := exec.LookPath("socat"); err == nil {
		list["5-socat"] = []string{server, socat, "STDIO", "EXEC:" + self}
	}
	return list
}

func sortedNames(list map[string][]string) []string {
	var names []string
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// BenchmarkRoundTrip measures one line of 200 bytes to a server in a process
// of its own and back, through a copier in a process of its own.
func BenchmarkRoundTrip(b *testing.B) {
	list := chains("echo")
	for _, name := range sortedNames(list) {
		b.Run(name, func(b *testing.B) {
			cmd := exec.Command(list[name][1], list[name][2:]...)
			cmd.Env = append(os.Environ(), roleVariable+"="+list[name][0])
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			out.(*os.File).Fd()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			line := append(bytes.Repeat([]byte("x"), 199), '\n')
			answer := make([]byte, len(line))
			times := make([]time.Duration, 0, b.N)
			for b.Loop() {
				start := time.Now()
				if _, err := in.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(out, answer); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkStream measures one long answer of a server.
func BenchmarkStream(b *testing.B) {
	list := chains("flood")
	for _, name := range sortedNames(list) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(floodBytes)
			for b.Loop() {
				cmd := exec.Command(list[name][1], list[name][2:]...)
				cmd.Env = append(os.Environ(), roleVariable+"="+list[name][0])
				out, _ := cmd.StdoutPipe()
				out.(*os.File).Fd()
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 64<<10))
				if err != nil || n < floodBytes {
					b.Fatalf("%d bytes came: %v", n, err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
