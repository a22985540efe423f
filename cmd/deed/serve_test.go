package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serverLimit is how long a server in a script may take to start or end.
const serverLimit = 5 * time.Minute

// scriptServer is a server that runs beside a script.
type scriptServer struct {
	command *exec.Cmd
	url     string
	ended   chan struct{}
	output  *lockedFile
}

// lockedFile takes lines from one goroutine while another reads how far it is.
type lockedFile struct {
	mu   sync.Mutex
	file *os.File
}

func (l *lockedFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Write(p)
}

type scriptServersKey struct{}

func serversOf(ts *testscript.TestScript) map[string]*scriptServer {
	return ts.Value(scriptServersKey{}).(map[string]*scriptServer)
}

// serveInScript starts deed serve and waits until it serves: serve NAME [FLAG...].
// What it prints goes into NAME.out and NAME.err, its URL into $NAME.
func serveInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: serve NAME [FLAG...]")
	}
	name := args[0]
	out, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	told, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	command := exec.Command(programOf(ts, "deed"), append([]string{"serve"}, args[1:]...)...)
	command.Dir = ts.MkAbs(".")
	command.Env = []string{"HOME=" + ts.MkAbs("."), "TZ=UTC"}
	for _, variable := range []string{"DEED_CONFIG", "DEED_DATABASE", "DEED_LOG_FORMAT", "DEED_LISTEN"} {
		if value := ts.Getenv(variable); value != "" {
			command.Env = append(command.Env, variable+"="+value)
		}
	}
	command.Stderr = told
	stdout, err := command.StdoutPipe()
	ts.Check(err)
	ts.Check(command.Start())
	s := &scriptServer{command: command, ended: make(chan struct{}), output: &lockedFile{file: out}}
	serving := make(chan string, 1)
	go func() {
		defer close(s.ended)
		lines := bufio.NewScanner(io.TeeReader(stdout, s.output))
		for lines.Scan() {
			if url, found := strings.CutPrefix(lines.Text(), "Deed serves "); found {
				serving <- url
			}
		}
		_ = command.Wait() // its state is looked at
	}()
	ts.Defer(func() {
		_ = command.Process.Kill()
		<-s.ended
		_ = out.Close()
		_ = told.Close()
	})
	select {
	case s.url = <-serving:
	case <-s.ended:
		text, _ := os.ReadFile(told.Name())
		ts.Fatalf("the server ended: %s", text)
	case <-time.After(serverLimit):
		ts.Fatalf("the server did not start")
	}
	serversOf(ts)[name] = s
	ts.Setenv(name, s.url)
}

var scriptSignals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}

// endInScript ends a server and looks at its exit code: end NAME SIGNAL CODE.
func endInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || scriptSignals[args[1]] == 0 {
		ts.Fatalf("usage: end NAME SIGNAL CODE")
	}
	s := serversOf(ts)[args[0]]
	ts.Check(s.command.Process.Signal(scriptSignals[args[1]]))
	select {
	case <-s.ended:
	case <-time.After(serverLimit):
		ts.Fatalf("the server did not end")
	}
	if code := strconv.Itoa(s.command.ProcessState.ExitCode()); code != args[2] {
		ts.Fatalf("the exit code is %s", code)
	}
}

// strangers believe any certificate: scripts make their own.
var strangers = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// certificateInScript makes a certificate for this machine: certificate CERT KEY NAME.
func certificateInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: certificate CERT KEY NAME")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: args[2]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
	}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// shownInScript waits until a server shows the certificate of a name: shown NAME CERTIFICATE.
func shownInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shown NAME CERTIFICATE")
	}
	address := strings.TrimPrefix(serversOf(ts)[args[0]].url, "https://")
	waitInScript(ts, func() bool {
		connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		ts.Check(err)
		defer connection.Close()
		return connection.ConnectionState().PeerCertificates[0].Subject.CommonName == args[1]
	})
}

// holdInScript begins a request and does not finish it: hold NAME. It needs the key
// that furnish left.
func holdInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold NAME")
	}
	s := serversOf(ts)[args[0]]
	key, err := os.ReadFile(ts.MkAbs(args[0] + ".key"))
	ts.Check(err)
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	ts.Check(err)
	ts.Defer(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST /v1/actions HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", key)
	ts.Check(err)
	waitInScript(ts, func() bool { // until the server has seen it
		answer, err := strangers.Get(s.url + "/metrics")
		ts.Check(err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		ts.Check(err)
		return strings.Contains(string(text), "deed_http_requests_active 1")
	})
}

// tellInScript sends a signal and waits until the server has logged something:
// tell NAME SIGNAL TEXT.
func tellInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || scriptSignals[args[1]] == 0 {
		ts.Fatalf("usage: tell NAME SIGNAL TEXT")
	}
	ts.Check(serversOf(ts)[args[0]].command.Process.Signal(scriptSignals[args[1]]))
	waitInScript(ts, func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0] + ".err"))
		ts.Check(err)
		return strings.Contains(string(text), args[2])
	})
}

// waitInScript asks again and again until the answer is yes.
func waitInScript(ts *testscript.TestScript, done func() bool) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.After(serverLimit)
	for !done() {
		select {
		case <-again.C:
		case <-limit:
			ts.Fatalf("it does not come about")
		}
	}
}

// fetchInScript prints what a URL answers: fetch STATUS URL.
func fetchInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch STATUS URL")
	}
	answer, err := strangers.Get(args[1])
	ts.Check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
	if strconv.Itoa(answer.StatusCode) != args[0] {
		ts.Fatalf("%s is answered with %s: %s", args[1], answer.Status, body)
	}
}

// furnishInScript signs the owner in by the link in a server's output and has an
// agent declare one action: furnish NAME. The key is left in the file NAME.key.
func furnishInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: furnish NAME")
	}
	s := serversOf(ts)[args[0]]
	s.output.mu.Lock()
	printed, err := os.ReadFile(s.output.file.Name())
	s.output.mu.Unlock()
	ts.Check(err)
	_, rest, found := strings.Cut(string(printed), "/sign-in#")
	if !found {
		ts.Fatalf("the server printed no link")
	}
	link, _, _ := strings.Cut(rest, "\n")
	var session struct{ Token string }
	ts.Check(post(s.url+"/v1/session", "", `{"link":"`+link+`"}`, &session))
	var minted struct{ Secret string }
	ts.Check(post(s.url+"/v1/keys", session.Token, `{"name":"agent","preset":"recorder"}`, &minted))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), []byte(minted.Secret), 0o600))
	body := `{"action_id":"refund-o-1","contract_id":"none","action_type":"refund_order","subject_id":"o-1"}`
	ts.Check(post(s.url+"/v1/actions", minted.Secret, body, nil))
}

func post(url, credential, body string, answer any) error {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(got.Body); err != nil {
		return err
	}
	if got.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("POST %s: %s: %s", url, got.Status, text.String())
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text.Bytes(), answer)
}

// programOf finds a program of the script's PATH.
func programOf(ts *testscript.TestScript, name string) string {
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		if candidate := filepath.Join(folder, name); isFile(candidate) {
			return candidate
		}
	}
	ts.Check(errors.New("there is no program " + name))
	return ""
}
