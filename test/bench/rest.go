package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// peer is one keep-alive connection to a server. It does as little as a client can:
// on a small machine the client's work is taken from the server's.
type peer struct {
	conn   net.Conn
	in     *bufio.Reader
	head   string // of every request, up to the length
	out    []byte
	answer []byte
}

// peerPatience is how long an answer may take.
const peerPatience = time.Minute

func (s *site) dial(credential string) (*peer, error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	return &peer{
		conn: conn, in: bufio.NewReaderSize(conn, 64<<10),
		head: "Host: " + s.address + "\r\nAuthorization: Bearer " + credential + "\r\n",
	}, nil
}

// do sends a request and reads its answer, which is valid until the next one.
func (p *peer) do(method, path string, body []byte) (status int, answer []byte, err error) {
	p.out = append(append(append(append(p.out[:0], method...), ' '), path...), " HTTP/1.1\r\n"...)
	p.out = append(p.out, p.head...)
	if body != nil {
		p.out = append(p.out, "Content-Type: application/json\r\nContent-Length: "...)
		p.out = append(strconv.AppendInt(p.out, int64(len(body)), 10), "\r\n"...)
	}
	p.out = append(append(p.out, "\r\n"...), body...)
	if err := p.conn.SetDeadline(time.Now().Add(peerPatience)); err != nil {
		return 0, nil, err
	}
	if _, err := p.conn.Write(p.out); err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	status, size, err := p.readHead()
	if err == nil {
		if cap(p.answer) < size {
			p.answer = make([]byte, size)
		}
		p.answer = p.answer[:size]
		_, err = io.ReadFull(p.in, p.answer)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return status, p.answer, nil
}

// readHead reads the status and the length of an answer.
func (p *peer) readHead() (status, size int, err error) {
	size = -1
	for {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if status == 0 {
			if len(line) < len("HTTP/1.1 200") {
				return 0, 0, fmt.Errorf("%q is no status", line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, 0, err
			}
			continue
		}
		if name, rest, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(rest))); err != nil {
				return 0, 0, err
			}
		}
	}
	if size < 0 {
		return 0, 0, fmt.Errorf("the answer %d has no length", status)
	}
	return status, size, nil
}

// must is do where only one answer is right.
func (p *peer) must(want int, method, path string, body []byte) ([]byte, error) {
	status, answer, err := p.do(method, path, body)
	if err == nil && status != want {
		err = fmt.Errorf("%s %s answered %d: %.300s", method, path, status, answer)
	}
	return answer, err
}

// crowding is what a number of clients do at the same time for a while.
type crowding struct {
	done    int64 // rows, actions or facts
	took    time.Duration
	answers sample
}

func (c *crowding) perSecond() float64 {
	if c.took <= 0 {
		return 0
	}
	return float64(c.done) / c.took.Seconds()
}

// add takes another turn in.
func (c *crowding) add(o crowding) {
	c.done += o.done
	c.took += o.took
	c.answers = append(c.answers, o.answers...)
}

// crowdOf has clients work until the time is up. Each call of work does one thing
// that counts as each of it; the first error ends all.
func crowdOf(ctx context.Context, clients int, span time.Duration, each int64, work func(client int) error) (crowding, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, span, nil)
	defer cancel()
	var all sync.WaitGroup
	var done atomic.Int64
	took := make([]sample, clients)
	failed := make(chan error, clients)
	began := time.Now()
	for client := range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				from := time.Now()
				if err := work(client); err != nil {
					failed <- err
					cancel()
					return
				}
				took[client] = append(took[client], time.Since(from))
				done.Add(each)
			}
		})
	}
	all.Wait()
	c := crowding{done: done.Load(), took: time.Since(began)}
	for _, one := range took {
		c.answers = append(c.answers, one...)
	}
	select {
	case err := <-failed:
		return c, err
	default:
		return c, nil
	}
}

// dialAll opens a connection for each client.
func (s *site) dialAll(n int, credential string) ([]*peer, func(), error) {
	peers := make([]*peer, 0, n)
	closeAll := func() {
		for _, p := range peers {
			p.conn.Close()
		}
	}
	for range n {
		p, err := s.dial(credential)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		peers = append(peers, p)
	}
	return peers, closeAll, nil
}
