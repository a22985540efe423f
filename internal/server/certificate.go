package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate is a TLS certificate in files, which are read again when they
// change, so that a renewal needs no restart.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamp   string // of the files that current was read from, or last failed to be
	looked  time.Time
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// LoadCertificate reads a certificate and its key.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	stamp := c.stampNow()
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the TLS certificate: %w", err)
	}
	c.current, c.stamp, c.looked = &pair, stamp, time.Now()
	return c, nil
}

// Reload reads the files now. What was read before goes on if they are wrong.
func (c *Certificate) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read(c.stampNow())
}

// read reads the files. The stamp is from before, so that a change in between is
// seen next time.
func (c *Certificate) read(stamp string) error {
	c.stamp = stamp
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("read the TLS certificate again: %w", err)
	}
	c.current = &pair
	return nil
}

// get is the certificate to show, read again if a file changed. A pair that does
// not fit together is a renewal that is under way: the next look finds it whole.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		if stamp := c.stampNow(); stamp != c.stamp {
			if err := c.read(stamp); err != nil {
				c.log.Error("the certificate of before goes on", "error", err)
			} else {
				c.log.Info("the TLS certificate was read again")
			}
		}
	}
	return c.current, nil
}

// stampNow changes when a file does.
func (c *Certificate) stampNow() string {
	stamp := ""
	for _, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			stamp += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamp
}

func (c *Certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1"}}
}
