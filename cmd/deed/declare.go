package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/gate"
	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/stdio"
	"github.com/deed-dev/deed/internal/terminal"
)

// declareFlags are those of declaring the actions that pass a recorder.
type declareFlags struct {
	Map          string  `help:"Declare the actions that this mapping file names, JSON or YAML, before their calls go on." placeholder:"FILE" env:"DEED_RECORDER_MAP,COMMITLAYER_RECORDER_MAP"`
	AgentID      string  `help:"With --map: the agent's id, instead of the mapping's." placeholder:"ID"`
	WorkflowID   string  `help:"With --map: the workflow's id, instead of the mapping's." placeholder:"ID"`
	APIURL       string  `name:"api-url" help:"With --map: the server that actions are declared to. The key for it is $$DEED_API_KEY." placeholder:"URL" env:"DEED_API_URL,COMMITLAYER_API_URL"`
	Timeout      seconds `help:"With --map: how many seconds a call waits for its declaration." default:"5"`
	NoFailOpen   bool    `help:"With --map: refuse a call whose action could not be declared, instead of forwarding it."`
	Strict       bool    `help:"With --map: refuse calls of mapped tools that cannot be declared at all, too."`
	WarnUnmapped bool    `help:"With --map: tell each tool that is called and not mapped, once."`
}

// declareKeys are the variables in which the key is looked for. There is no
// flag for it: a command line is shown to everybody on the machine.
var declareKeys = []string{"DEED_API_KEY", "COMMITLAYER_API_KEY"}

func declareKey() string { return firstSet(declareKeys...) }

// firstSet is the first variable that says something. One that is set to
// nothing counts as absent, as it does where configurations list all of them.
func firstSet(names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// fill takes from the environment what the command line leaves open.
func (f *declareFlags) fill() {
	if f.Map == "" {
		f.Map = firstSet("DEED_RECORDER_MAP", "COMMITLAYER_RECORDER_MAP")
	}
	if f.APIURL == "" {
		f.APIURL = firstSet("DEED_API_URL", "COMMITLAYER_API_URL")
	}
}

// seconds are written as a number, or with a unit.
type seconds time.Duration

// UnmarshalText reads 5, 2.5 or 500ms.
func (s *seconds) UnmarshalText(text []byte) error {
	span, err := time.ParseDuration(string(text))
	if n, numeric := strconv.ParseFloat(string(text), 64); numeric == nil {
		span, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || span < time.Millisecond || span > time.Hour {
		return fmt.Errorf("%q is no number of seconds above 0, such as 5 or 2.5", text)
	}
	*s = seconds(span)
	return nil
}

// given is a flag that was given and needs a mapping.
func (f *declareFlags) given() string {
	switch {
	case f.AgentID != "":
		return "--agent-id"
	case f.WorkflowID != "":
		return "--workflow-id"
	case f.NoFailOpen:
		return "--no-fail-open"
	case f.Strict:
		return "--strict"
	case f.WarnUnmapped:
		return "--warn-unmapped"
	}
	return ""
}

// gate is what makes the gate of a session; nil without a mapping, and without
// a server to declare to, which a person is told.
func (f *declareFlags) gate(w *world, label string) (func(*observer.Observer, func(string)) stdio.Gate, error) {
	if f.Map == "" {
		if flag := f.given(); flag != "" {
			return nil, &misuse{errOnlyWith(flag, "--map")}
		}
		return nil, nil
	}
	mapping, err := intent.LoadFor(f.Map, label)
	if err != nil {
		return nil, mappingError(f.Map, err)
	}
	mapping = mapping.With(f.AgentID, f.WorkflowID, label)
	key := declareKey()
	if key == "" || f.APIURL == "" {
		fmt.Fprintln(w.stderr, "deed: "+f.missing(key))
		return nil, nil
	}
	client, err := newDeclarer(w, f.APIURL, key)
	if err != nil {
		return nil, err
	}
	return func(record *observer.Observer, warn func(string)) stdio.Gate {
		kept := &keptGate{}
		options := gate.Options{
			Mapping: mapping, Session: record.ID(), To: client, Timeout: time.Duration(f.Timeout),
			Required: f.NoFailOpen, Strict: f.Strict, WarnUnmapped: f.WarnUnmapped, Warn: warn,
		}
		if home, err := w.folder(); err == nil { // else nothing is kept that could be sent later
			kept.keeper = outbox.NewKeeper(home, client, time.Duration(f.Timeout), warn)
			options.Failed = kept.keeper.Kick
		}
		kept.Gate = gate.New(record, options)
		return kept
	}, nil
}

// missing says what there is no declaring without.
func (f *declareFlags) missing(key string) string {
	var names []string
	if key == "" {
		names = append(names, "DEED_API_KEY")
	}
	if f.APIURL == "" {
		names = append(names, "DEED_API_URL")
	}
	is := " is"
	if len(names) > 1 {
		is = " are"
	}
	text := strings.Join(names, " and ") + is + " not set: nothing is declared, the traffic passes and is recorded as without --map"
	if f.NoFailOpen || f.Strict {
		text += ", and no call is refused"
	}
	return text
}

// keptGate is a gate with the one who sends what it could not.
type keptGate struct {
	*gate.Gate
	keeper *outbox.Keeper // nil without a home
}

// Close implements [stdio.Gate].
func (g *keptGate) Close() {
	g.Gate.Close()
	if g.keeper != nil {
		g.keeper.Close()
	}
}

// newDeclarer makes the client of a server, and tells when the key is not safe
// on its way there.
func newDeclarer(w *world, api, key string) (*outbox.Client, error) {
	client, err := outbox.NewClient(api, key, buildVersion().Version)
	var address *outbox.AddressError
	var badKey *outbox.KeyError
	switch {
	case errors.As(err, &address):
		return nil, &misuse{terminal.WithHint(err, "give it as in DEED_API_URL=https://deed.example.com")}
	case errors.As(err, &badKey):
		return nil, &misuse{terminal.WithHint(err, "set DEED_API_KEY to the key as it was shown when it was made")}
	case err != nil:
		return nil, &misuse{err}
	}
	if host := client.PlainTo(); host != "" {
		fmt.Fprintf(w.stderr, "deed: the key goes to %s without encryption; use https\n", terminal.Clean(host))
	}
	return client, nil
}

// mappingError is a mapping that cannot be used, which is told before anything
// is started.
func mappingError(path string, err error) error {
	var wrong *intent.MappingError
	switch {
	case errors.As(err, &wrong) && len(wrong.Problems) > 0:
		lines := make([]string, 0, len(wrong.Problems))
		for _, p := range wrong.Problems {
			lines = append(lines, wrong.File+":"+p.String())
		}
		err := fmt.Errorf("the mapping cannot be used: %s", lines[0])
		if len(lines) > 1 {
			err = terminal.WithHint(err, strings.Join(lines[1:], "\n"))
		}
		return &misuse{err}
	case errors.Is(err, fs.ErrNotExist):
		return &misuse{terminal.WithHint(fmt.Errorf("the mapping cannot be read: there is no file %s", path), "give the path of a mapping file: --map FILE")}
	}
	return &misuse{fmt.Errorf("the mapping cannot be read: %w", err)}
}

// withoutKey is the environment of a server: our key is not for it.
func withoutKey(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(declareKeys, name)
	})
}
