package setting

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/likeness"
)

// Origin says where a value came from, as a reader finds it: "--listen",
// "DEED_LISTEN", "deed.yaml:3" or "default".
type Origin string

const byDefault Origin = "default"

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Setting string // its name; empty where it is not about one
	Origin  Origin
	Message string
	Hint    string // what to do next, in lines; may be empty
}

func (p Problem) Error() string {
	text := p.Message
	flagOrVariable := strings.HasPrefix(string(p.Origin), "--") || strings.HasPrefix(string(p.Origin), "DEED_") || strings.HasPrefix(string(p.Origin), "OTEL_")
	if p.Setting != "" && !flagOrVariable { // whose name says it already
		text = p.Setting + ": " + text
	}
	if p.Origin != "" && p.Origin != byDefault {
		text = string(p.Origin) + ": " + text
	}
	return text
}

// Problems are all that is wrong with the settings.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Input is where settings are looked for.
type Input struct {
	Use     Use
	Flags   map[string]string // by name, those that were given
	Environ []string          // NAME=value
	Read    func(name string) ([]byte, error)
	// DataFolder is where data is kept if nobody says so; empty if there is no such
	// place.
	DataFolder string
}

// given is a value, as it was written, and where.
type given struct {
	value  string
	origin Origin
	file   string // in which it was written, if it was in one
	// into reads it where another standard says how it is written; nil: as the
	// setting does.
	into func(c *Config, value string) error
}

// Effective are settings with where each came from.
type Effective struct {
	Config Config
	rows   []Row
}

// Row is a setting as it holds.
type Row struct {
	Setting Setting
	Value   string // without secrets; empty: absent
	Origin  Origin // empty: absent

	wrong bool   // the value makes no sense
	hides bool   // the value holds a secret, which is not shown
	file  string // in which it was written, if it was in one
}

// Rows are the settings of the use, as they hold.
func (e *Effective) Rows() []Row { return slices.Clone(e.rows) }

// Read finds what each setting of a use is: a flag goes before the environment,
// the environment before the file, the file before the default. An error is
// [Problems], all that there are; what was found then is only good to be shown.
func Read(in Input) (*Effective, error) {
	settings := For(in.Use)
	found, problems := collect(in, settings)
	e := &Effective{}
	for _, s := range settings {
		g, ok := found[s.Name]
		if !ok {
			e.rows = append(e.rows, Row{Setting: s})
			continue
		}
		if problem := take(s, g, &e.Config); problem != nil {
			problems = append(problems, *problem)
			row := Row{Setting: s, Value: g.value, Origin: g.origin, wrong: true}
			if s.secret != nil || s.unshown {
				row.Value = "" // where in it the secret is can only be told if it is right
			}
			e.rows = append(e.rows, row)
			continue
		}
		row := Row{Setting: s, Value: g.resolved(s.Form), Origin: g.origin, file: g.file}
		if s.secret != nil {
			row.Value, row.hides = s.secret(g.value)
		}
		e.rows = append(e.rows, row)
	}
	if in.Use&Serving != 0 && e.Config.Tracing.Endpoint != "" {
		problems = append(problems, e.Config.Tracing.describe(in.variable)...)
	}
	if len(problems) == 0 { // what does not fit together only shows once each is right
		problems = e.Config.problems(func(name string) Origin { return found[name].origin })
		problems = slices.DeleteFunc(problems, func(p Problem) bool {
			return !slices.ContainsFunc(settings, func(s Setting) bool { return s.Name == p.Setting })
		})
	}
	if len(problems) > 0 {
		return e, problems
	}
	return e, nil
}

// take reads one value into its place.
func take(s Setting, g given, c *Config) *Problem {
	problem := func(message, hint string) *Problem {
		return &Problem{Setting: s.Name, Origin: g.origin, Message: message, Hint: hint}
	}
	if s.secret != nil && g.origin == Origin(s.Flag()) {
		if _, holds := s.secret(g.value); holds {
			return problem("everybody on this machine can read a password on a command line", "put it into the environment: "+s.Variable()+"=…\nor into the file of --config")
		}
	}
	if err := s.Form.check(g.value); err != nil {
		return problem(err.Error(), "")
	}
	into := s.into
	if g.into != nil {
		into = g.into
	}
	if err := into(c, g.resolved(s.Form)); err != nil {
		return problem(err.Error(), "")
	}
	return nil
}

// resolved is the value with a relative path taken from where it was written.
func (g given) resolved(f Form) string {
	if g.file == "" {
		return g.value
	}
	return f.resolve(g.value, filepath.Dir(g.file))
}

// collect finds the values, the strongest of each setting.
func collect(in Input, settings []Setting) (map[string]given, Problems) {
	found := map[string]given{}
	for _, s := range settings {
		if s.Default != "" {
			found[s.Name] = given{value: s.Default, origin: byDefault}
		}
	}
	if in.DataFolder != "" {
		found["data"] = given{value: in.DataFolder, origin: byDefault}
	}
	outside := map[string]given{}
	problems := environment(in, settings, outside)
	for _, s := range settings {
		if value, ok := in.Flags[s.Name]; ok {
			outside[s.Name] = given{value: value, origin: Origin(s.Flag())}
		}
	}
	if named, ok := outside[file]; ok {
		inFile, wrong := readFile(in, named.value)
		problems = append(problems, wrong...)
		for name, g := range inFile {
			if slices.ContainsFunc(settings, func(s Setting) bool { return s.Name == name }) {
				found[name] = g
			}
		}
	}
	for name, g := range outside {
		found[name] = g
	}
	standards(in, settings, found)
	return found, problems
}

// environment finds the variables that are settings. One whose name is nearly a
// setting's is told, because it would be passed over without a word.
func environment(in Input, settings []Setting, into map[string]given) Problems {
	var problems Problems
	var variables, all []string
	for _, s := range Table() {
		all = append(all, s.Variable())
	}
	byVariable := map[string]Setting{}
	for _, s := range settings {
		variables = append(variables, s.Variable())
		byVariable[s.Variable()] = s
	}
	for _, line := range in.Environ {
		name, value, _ := strings.Cut(line, "=")
		if s, ok := byVariable[name]; ok && value != "" {
			into[s.Name] = given{value: value, origin: Origin(name)}
			continue
		}
		if !strings.HasPrefix(name, "DEED_") || slices.Contains(all, name) {
			continue
		}
		if meant := likeness.Closest(name, variables); meant != "" && oneSlip(name, meant) {
			problems = append(problems, Problem{Origin: Origin(name), Message: "there is no such setting", Hint: "did you mean " + meant + "?"})
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Origin, b.Origin) })
	return problems
}

// oneSlip says that two names differ so little that nobody means two things by
// them. Other programs of the family may have DEED_ variables of their own.
func oneSlip(a, b string) bool {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	same := 0
	for same < shorter && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < shorter-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return longer-same-tail <= 2
}

// readFile reads the file that --config names.
func readFile(in Input, name string) (map[string]given, Problems) {
	text, err := in.Read(name)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, Problems{{Setting: file, Message: fmt.Sprintf("read %s: %v", name, err)}}
	}
	return parseFile(name, text)
}
