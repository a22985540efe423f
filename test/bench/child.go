package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// childWord as the first argument makes this program one of its own children.
const childWord = "child"

// childMain plays the part that the arguments name, and returns an exit code.
func childMain(args []string) int {
	if err := child(args); err != nil {
		fmt.Fprintln(os.Stderr, "bench child:", err)
		return 1
	}
	return 0
}

func child(args []string) error {
	if len(args) > 0 && args[0] == "api" {
		return serveAPI(os.Stdin, os.Stdout)
	}
	if len(args) < 2 {
		return fmt.Errorf("want a part and its arguments, got %q", args)
	}
	switch part, rest := args[0], args[1:]; part {
	case "copy":
		return copyBothWays(rest)
	case "serve":
		size, err := strconv.Atoi(rest[0])
		if err != nil {
			return err
		}
		return serve(os.Stdin, os.Stdout, size)
	case "pour":
		if len(rest) != 2 {
			return fmt.Errorf("pour wants a total and a line size, got %q", rest)
		}
		total, err := strconv.ParseInt(rest[0], 10, 64)
		if err != nil {
			return err
		}
		line, err := strconv.Atoi(rest[1])
		if err != nil {
			return err
		}
		return pour(os.Stdin, os.Stdout, total, line)
	case "evaluate", "limit":
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			return err
		}
		if part == "limit" {
			return limit(os.Stdout, n)
		}
		return evaluate(os.Stdout, n)
	default:
		return fmt.Errorf("no part is called %q", part)
	}
}

// serve is an MCP server as fast as one can be: it answers each line with a
// ready-made result that carries the line's id.
func serve(in io.Reader, out io.Writer, size int) error {
	answer := message(`{"jsonrpc":"2.0","id":"00000000","result":{"content":[{"type":"text","text":"`, `"}]}}`, size)
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if len(line) < idAt+idDigits {
			return fmt.Errorf("a request of %d bytes is too short to have an id", len(line))
		}
		copy(answer[idAt:], line[idAt:idAt+idDigits])
		if _, err := out.Write(answer); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

// Requests and answers carry their id at the same place.
const (
	idAt     = len(`{"jsonrpc":"2.0","id":"`)
	idDigits = 8
)

func request(size int) []byte {
	return message(`{"jsonrpc":"2.0","id":"00000000","method":"tools/call","params":{"name":"echo","arguments":{"text":"`, `"}}}`, size)
}

// message fills up with text between head and tail to a line of size bytes.
func message(head, tail string, size int) []byte {
	line := make([]byte, 0, size)
	line = append(line, head...)
	const text = "the quick brown fox jumps over the lazy dog "
	for len(line) < size-len(tail)-1 {
		line = append(line, text[len(line)%len(text)])
	}
	line = append(line, tail...)
	return append(line, '\n')
}

// pour waits for one byte and writes total bytes: notifications of line bytes
// each, or one single line when line is 0.
func pour(in io.Reader, out io.Writer, total int64, line int) error {
	if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	const head, tail = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`, `"}}`
	if line == 0 {
		return pourLine(in, out, head, tail, total)
	}
	chunk := bytes.Repeat(message(head, tail, line), max(1, (256<<10)/line))
	for left := total; left > 0; {
		n := min(left, int64(len(chunk)))
		if _, err := out.Write(chunk[:n]); err != nil {
			return fmt.Errorf("pour: %w", err)
		}
		left -= n
	}
	_, err := io.Copy(io.Discard, in) // stay until the client is done with us
	return err
}

func pourLine(in io.Reader, out io.Writer, head, tail string, total int64) error {
	chunk := bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog "), 6000)
	if _, err := io.WriteString(out, head); err != nil {
		return fmt.Errorf("pour: %w", err)
	}
	for left := total - int64(len(head)+len(tail)+1); left > 0; {
		n := min(left, int64(len(chunk)))
		if _, err := out.Write(chunk[:n]); err != nil {
			return fmt.Errorf("pour: %w", err)
		}
		left -= n
	}
	if _, err := io.WriteString(out, tail+"\n"); err != nil {
		return fmt.Errorf("pour: %w", err)
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// copyBothWays is the bare copier: what no recorder on a pipe can be faster
// than. It starts the command and moves bytes, 64 KiB at a time.
func copyBothWays(command []string) error {
	toServer, serverStdin, err := blockingPipe()
	if err != nil {
		return err
	}
	serverStdout, fromServer, err := blockingPipe()
	if err != nil {
		return err
	}
	server := exec.Command(command[0], command[1:]...)
	server.Stdin, server.Stdout, server.Stderr = toServer, fromServer, os.Stderr
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	toServer.Close()
	fromServer.Close()
	go func() {
		move(serverStdin, os.Stdin)
		serverStdin.Close()
	}()
	move(os.Stdout, serverStdout)
	return server.Wait()
}

// blockingPipe is a pipe whose reads block their thread. For one reader each
// that is quicker than a round over the poller.
func blockingPipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	r.Fd()
	w.Fd()
	return r, w, nil
}

// move copies until either side ends. It hides the files' own ReadFrom, which
// would leave the copying to the kernel for some kinds of file and not others.
func move(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
