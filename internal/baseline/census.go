package baseline

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed census.json
var builtIn []byte

// Format is the format of a census that this version reads and writes.
const Format = "deed-census-1"

// Census is what was measured of a list of servers. Sizes are wire bytes: a
// whole line with its line end.
type Census struct {
	Format       string   `json:"format"`
	MeasuredAt   string   `json:"measured_at"` // RFC 3339, UTC
	Deed         string   `json:"deed_version"`
	Node         string   `json:"node_version"`
	System       string   `json:"system"`           // such as linux/amd64
	Protocol     string   `json:"protocol_version"` // that the client asked for
	CallsPerTool int      `json:"calls_per_tool"`   // that were made, answered or not
	Overall      Overall  `json:"overall"`
	Servers      []Server `json:"servers"` // by package
}

// Overall is the distribution over all tools of all packages. Each tool
// counts once, with the median of its answers: five calls with the same
// arguments are not five independent values.
type Overall struct {
	Tools int   `json:"n_tools"`
	Calls int   `json:"n_calls"` // behind the medians
	Min   int64 `json:"min"`
	P25   int64 `json:"p25"`
	P50   int64 `json:"p50"`
	P75   int64 `json:"p75"`
	P95   int64 `json:"p95"`
	Max   int64 `json:"max"`
}

// Server is what was measured of one package.
type Server struct {
	Package       string `json:"package"` // such as npm:@scope/name
	Version       string `json:"version"`
	DeclaredTools int    `json:"declared_tools"`
	DeclaredBytes int64  `json:"declared_bytes"` // of the answers to tools/list, all pages
	NotCalled     int    `json:"not_called"`     // tools that were not safe to call, or not without more knowledge
	Tools         []Tool `json:"tools"`          // those that were called, by name
}

// Tool is what was measured of one tool. Only successful answers are in its
// sizes and times; one that always failed has neither.
type Tool struct {
	Name      string `json:"tool"`
	Failed    int    `json:"failed"` // calls without a successful answer
	WireBytes Spread `json:"wire_bytes,omitzero"`
	TookP50US int64  `json:"took_p50_us,omitzero"` // from the request to its answer
}

// BuiltIn reads the census that is part of the program.
func BuiltIn() (*Census, error) {
	return Parse(builtIn)
}

// Parse reads a census and refuses one that contradicts itself.
func Parse(text []byte) (*Census, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var c Census
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("read the census: %w", err)
	}
	if c.Format != Format {
		return nil, fmt.Errorf("the census has the format %q, this version reads %q", c.Format, Format)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("check the census: %w", err)
	}
	return &c, nil
}

// Finish sorts the census and fills in what follows from the rest.
func (c *Census) Finish() {
	c.Format = Format
	slices.SortFunc(c.Servers, func(a, b Server) int { return strings.Compare(a.Package, b.Package) })
	for i := range c.Servers {
		slices.SortFunc(c.Servers[i].Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	}
	c.Overall = c.overall()
}

// Text is the census as it is kept in a file.
func (c *Census) Text() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("write the census: %w", err)
	}
	return b.Bytes(), nil
}

func (c *Census) overall() Overall {
	medians := c.medians()
	if len(medians) == 0 {
		return Overall{}
	}
	o := Overall{
		Tools: len(medians), Min: medians[0], Max: medians[len(medians)-1],
		P25: Percentile(medians, 25), P50: Percentile(medians, 50),
		P75: Percentile(medians, 75), P95: Percentile(medians, 95),
	}
	for _, s := range c.Servers {
		for _, t := range s.Tools {
			o.Calls += t.WireBytes.N
		}
	}
	return o
}

// check holds the derived figures to the values that they come from.
func (c *Census) check() error {
	if c.overall() != c.Overall {
		return fmt.Errorf("overall is %+v, the servers give %+v", c.Overall, c.overall())
	}
	for i, s := range c.Servers {
		if i > 0 && c.Servers[i-1].Package >= s.Package {
			return fmt.Errorf("%s stands behind %s", s.Package, c.Servers[i-1].Package)
		}
		for j, t := range s.Tools {
			if j > 0 && s.Tools[j-1].Name >= t.Name {
				return fmt.Errorf("%s: %s stands behind %s", s.Package, t.Name, s.Tools[j-1].Name)
			}
			if !t.WireBytes.holds() {
				return fmt.Errorf("%s: the sizes of %s contradict each other", s.Package, t.Name)
			}
		}
	}
	return nil
}

func (c *Census) server(pkg string) (Server, bool) {
	at, found := slices.BinarySearchFunc(c.Servers, pkg, func(s Server, pkg string) int { return strings.Compare(s.Package, pkg) })
	if !found {
		return Server{}, false
	}
	return c.Servers[at], true
}

func (s Server) tool(name string) (Tool, bool) {
	at, found := slices.BinarySearchFunc(s.Tools, name, func(t Tool, name string) int { return strings.Compare(t.Name, name) })
	if !found {
		return Tool{}, false
	}
	return s.Tools[at], true
}

// medians are the sizes of the package's tools, sorted.
func (s Server) medians() []int64 {
	var all []int64
	for _, t := range s.Tools {
		if t.WireBytes.N > 0 {
			all = append(all, t.WireBytes.P50)
		}
	}
	slices.Sort(all)
	return all
}

// medians are the sizes of all tools of all packages, sorted.
func (c *Census) medians() []int64 {
	var all []int64
	for _, s := range c.Servers {
		all = append(all, s.medians()...)
	}
	slices.Sort(all)
	return all
}
