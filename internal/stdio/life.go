package stdio

import (
	"time"

	"github.com/deed-dev/deed/internal/process"
	"github.com/deed-dev/deed/internal/wire"
)

// stage is how far a session's end has come.
type stage int

const (
	running stage = iota
	owing         // the client has gone, answers are still owed to it
	ending        // nothing is owed: the server has a moment to end by itself
	asked         // TERM was sent
	forced        // KILL was sent
)

// live sees a session through to the end of the server and of the bytes it
// wrote.
func (s *session) live(client, server <-chan wire.Result) process.Exit {
	var (
		now   = running
		timer = time.NewTimer(time.Hour)
		look  = time.NewTicker(lookEvery)
		quiet <-chan struct{}
		deaf  bool // the client no longer reads
	)
	timer.Stop()
	look.Stop()
	defer timer.Stop()
	defer look.Stop()
	enter := func(next stage, limit time.Duration) {
		if next > now {
			now = next
			timer.Reset(limit)
		}
	}
	for {
		select {
		case <-s.proc.Done():
			s.drain(server)
			return s.proc.Exit()

		case r := <-client:
			client = nil
			s.proc.Stdin.Close() // the server reads its end of file here
			if r.End == wire.Stopped {
				break
			}
			if r.End == wire.SinkGone {
				// The server takes no more. The client learns it as it would
				// without us: its next write fails.
				s.Stdin.Close()
				break
			}
			s.reason = "client_closed"
			if deaf {
				enter(ending, askAfter)
				break
			}
			quiet = s.obs.Quiet()
			enter(owing, s.Linger)
			look.Reset(lookEvery)

		case r := <-server:
			server = nil
			s.Stdout.Close() // the client reads its end of file here
			if r.End != wire.SinkGone {
				break
			}
			deaf = true
			s.proc.Stdout.Close() // the server's next write fails, as it would without us
			if now == owing {
				enter(ending, askAfter)
			}

		case <-look.C:
			// A client that has closed both sides is owed nothing. A write
			// would tell, but the server may have nothing to write for long.
			if now == owing && hungUp(s.Stdout) {
				enter(ending, askAfter)
			}

		case <-quiet:
			quiet = nil
			enter(ending, askAfter)

		case sig := <-s.Signals:
			s.reason = "signal"
			_ = s.proc.Signal(sig) // a tree that is gone needs none
			s.client.Stop()
			s.proc.Stdin.Close()
			enter(ending, askAfter)

		case <-timer.C:
			switch now {
			case owing, ending:
				_ = s.proc.Terminate()
				enter(asked, forceAfter)
			case asked:
				_ = s.proc.Kill()
				enter(forced, time.Hour)
			}
		}
	}
}

// drain delivers what the server wrote before it ended. It waits for a client
// that reads slowly, and does not wait for a grandchild that holds the pipes.
func (s *session) drain(server <-chan wire.Result) {
	sweep := time.AfterFunc(askAfter, s.sweep) // ends a grandchild that goes on writing
	defer sweep.Stop()
	if server != nil {
		s.server.Expire(drainIdle)
		select {
		case <-server:
		case <-s.Signals:
			s.server.Stop()
		}
	}
	s.client.Stop()
	s.Stdout.Close()
	s.stderr.expire(s.proc.Stderr, drainIdle)
}

// sweep ends what the server left of its processes.
func (s *session) sweep() { s.proc.End(process.Patience{Term: forceAfter}) }
