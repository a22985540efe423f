package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writePair makes a certificate with a serial number, which it returns.
func writePair(t *testing.T, certFile, keyFile string, serial int64) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "deed"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return form.SerialNumber.String()
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serialNow is the serial number of the certificate that would be shown, with the
// files looked at again.
func serialNow(t *testing.T, c *Certificate) string {
	t.Helper()
	c.looked = time.Time{}
	pair, err := c.get(nil)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf.SerialNumber.String()
}

func TestAChangedCertificateIsReadAndABrokenOneLeavesTheOneOfBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, certFile, keyFile, 1)
	c, err := LoadCertificate(certFile, keyFile, quiet())
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, []byte("half of a certifi"))
	if got := serialNow(t, c); got != "1" {
		t.Errorf("with a broken file it shows %s", got)
	}
	if err := c.Reload(); err == nil {
		t.Error("reading a broken file is no error")
	}
	writePair(t, certFile, keyFile, 23)
	if got := serialNow(t, c); got != "23" {
		t.Errorf("after the renewal it shows %s", got)
	}
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	if got := serialNow(t, c); got != "23" {
		t.Errorf("with the key gone it shows %s", got)
	}
}

func TestACertificateThatIsNotThereKeepsTheServerFromStarting(t *testing.T) {
	t.Parallel()
	if _, err := LoadCertificate(filepath.Join(t.TempDir(), "none.pem"), "none.pem", quiet()); err == nil {
		t.Error("it was taken")
	}
}
