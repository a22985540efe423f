package backoffice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/deed-dev/deed/client"
)

// Service is the office as a program.
type Service struct {
	Listen string // host and port of this machine; port 0 takes a free one
	Ledger string // the file to begin
	Server string // of Deed
	Key    string // an evidence key that is bound to both sources
	Every  time.Duration
	// Withhold is an entry that is never told, as if the ledger had lost it.
	Withhold string
	Out      io.Writer // is told the address, in one line
	Err      io.Writer // is told what fails
}

// Run serves until ctx ends, which is no error.
func (s *Service) Run(ctx context.Context) (err error) {
	evidence, err := client.NewEvidence(s.Server, s.Key, client.WithTries(2))
	if err != nil {
		return err
	}
	ledger, err := OpenLedger(s.Ledger, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	office := NewOffice(ctx, ledger)
	server := &http.Server{Handler: office.Handler(), ReadHeaderTimeout: 5 * time.Second}
	reporter := &Reporter{Ledger: ledger, To: evidence, Every: s.Every, Withhold: s.Withhold}
	var work sync.WaitGroup
	work.Go(func() {
		reporter.Run(ctx, func(err error) { fmt.Fprintf(s.Err, "back office: %v\n", err) })
	})
	work.Go(func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // what is still open after a second is cut
		_ = server.Close()
	})
	if _, err := fmt.Fprintf(s.Out, "the back office is at http://%s\n", listener.Addr()); err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	work.Wait()
	office.Wait()
	return nil
}
