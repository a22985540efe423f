package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// errLayout says that what was laid out is no longer what was read. It is held
// against the text each time, since a layout that changes a contract would be
// worse than none.
var errLayout = errors.New("the contract has a form whose layout cannot be kept")

// Format lays a contract out in one way: the keys in the order of the table of
// [Keys], two blanks for each level, mappings and lists in brackets where they
// stood in brackets and fit on a line. Names that the author chose keep their
// order, comments stay with what they are about, and the meaning never changes.
//
// What is laid out need not be right, only YAML as contracts have it: unknown
// keys stay behind the known ones. An error is of type [Problems], or says that
// this text cannot be laid out.
func Format(source []byte) ([]byte, error) {
	before, problems := plant(string(source))
	if len(problems) > 0 {
		return nil, Problems(sorted(problems))
	}
	tokens := lexer.Tokenize(string(source))
	comments := 0
	for _, t := range tokens {
		if t.Type == token.CommentType {
			comments++
		}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Problems{syntaxProblem(err)}
	}
	d := &drawing{lines: strings.Split(string(source), "\n")}
	root := d.shape(file.Docs[0].Body, nil)
	root.flow = false
	d.attach(tokens)
	root.arrange("", false)
	p := printer{}
	p.document(d.header, root)
	if after, problems := plant(p.String()); len(problems) > 0 || !alike(before, after) {
		return nil, fmt.Errorf("lay the contract out: %w", errLayout)
	}
	for _, t := range lexer.Tokenize(p.String()) {
		if t.Type == token.CommentType {
			comments--
		}
	}
	if comments != 0 {
		return nil, fmt.Errorf("keep the comments of the contract: %w", errLayout)
	}
	return []byte(p.String()), nil
}

// alike compares trees in everything but the order of keys and the style of
// texts.
func alike(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text {
		return false
	}
	byKey := func(a, b entry) int { return strings.Compare(a.key.text, b.key.text) }
	one, other := slices.Clone(a.entries), slices.Clone(b.entries)
	slices.SortStableFunc(one, byKey)
	slices.SortStableFunc(other, byKey)
	return slices.EqualFunc(one, other, func(a, b entry) bool { return alike(a.key, b.key) && alike(a.value, b.value) }) &&
		slices.EqualFunc(a.items, b.items, alike)
}

// spot is a place in the text.
type spot struct{ line, column int }

func (a spot) before(b spot) bool {
	return a.line < b.line || a.line == b.line && a.column < b.column
}

// shape is a value as it will be laid out.
type shape struct {
	kind  nodeKind
	raw   string   // of a scalar, and what begins a text of several lines
	lines []string // of a text of several lines
	flow  bool     // a mapping or a list in brackets
	parts []*part
	foot  []remark // comments behind the last part
	owner *part    // whose value it is; nil for the whole
	end   spot     // of a mapping or a list in brackets, where they close
}

// part is an entry of a mapping or an element of a list.
type part struct {
	key    string // as it is written; empty for an element
	name   string
	value  *shape
	within *shape
	at     spot
	head   []remark // comments above
	beside string   // the comment on the same line
	blank  bool     // an empty line stands before it
}

// remark is a comment on a line of its own.
type remark struct {
	text  string
	blank bool // an empty line stands before it
}

// drawing makes shapes of a syntax tree.
type drawing struct {
	lines  []string
	parts  []*part // in the order of the text
	header []remark
}

func (d *drawing) shape(n ast.Node, owner *part) *shape {
	s := &shape{owner: owner}
	switch n := n.(type) {
	case *ast.MappingNode:
		s.kind, s.flow = mapping, n.IsFlowStyle
		if n.End != nil {
			s.end = at(n.End)
		}
		for _, value := range n.Values {
			d.entry(s, value)
		}
	case *ast.MappingValueNode:
		s.kind = mapping
		d.entry(s, n)
	case *ast.SequenceNode:
		s.kind, s.flow = sequence, n.IsFlowStyle
		if n.End != nil {
			s.end = at(n.End)
		}
		for i, value := range n.Values {
			p := &part{within: s, at: at(value.GetToken())}
			if !n.IsFlowStyle && i < len(n.Entries) {
				p.at = at(n.Entries[i].Start)
			} else if t := start(value); t != nil {
				p.at = at(t)
			}
			d.add(s, p, value)
		}
	default:
		d.scalar(s, n)
	}
	return s
}

// start is the token that a value begins with; that of a mapping is its colon.
func start(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle || len(n.Values) == 0 {
			return n.Start
		}
		return start(n.Values[0])
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	case *ast.SequenceNode:
		return n.Start
	}
	return n.GetToken()
}

func at(t *token.Token) spot {
	if t == nil || t.Position == nil {
		return spot{}
	}
	return spot{t.Position.Line, t.Position.Column}
}

func (d *drawing) entry(s *shape, n *ast.MappingValueNode) {
	key := n.Key.GetToken()
	p := &part{within: s, at: at(key), key: d.written(key), name: key.Value}
	d.add(s, p, n.Value)
}

func (d *drawing) add(s *shape, p *part, value ast.Node) {
	s.parts = append(s.parts, p)
	d.parts = append(d.parts, p)
	p.blank = !s.flow && d.blank(p.at.line-1)
	p.value = d.shape(value, p)
}

// line is a line of the source, counted from 1. The reader of YAML sometimes
// names one that is not there.
func (d *drawing) line(number int) []rune {
	if number < 1 || number > len(d.lines) {
		return nil
	}
	return []rune(d.lines[number-1])
}

// blank says whether a line, counted from 1, is there and empty.
func (d *drawing) blank(number int) bool {
	return number >= 1 && number <= len(d.lines) && strings.TrimSpace(d.lines[number-1]) == ""
}

// attach gives each comment to what it is about.
func (d *drawing) attach(tokens token.Tokens) {
	next := 0
	for _, t := range tokens {
		if t.Type != token.CommentType {
			continue
		}
		here := at(t)
		for next < len(d.parts) && d.parts[next].at.before(here) {
			next++
		}
		text := strings.TrimRight("#"+t.Value, " \t\r\n")
		line := d.line(here.line)
		own := strings.TrimSpace(string(line[:min(max(here.column-1, 0), len(line))])) == ""
		d.unfold(here, next)
		switch {
		case next == 0:
			d.header = append(d.header, remark{text, d.blank(here.line - 1)})
		case own:
			d.above(remark{text, d.blank(here.line - 1)}, here, next)
		default:
			d.beside(text, here, next)
		}
	}
	if len(d.parts) > 0 && len(d.header) > 0 {
		// The space behind the header stays there, whichever key comes first.
		d.header = append(d.header, remark{blank: d.parts[0].blank})
		d.parts[0].blank = false
	}
}

// unfold takes the brackets from around a comment.
func (d *drawing) unfold(here spot, next int) {
	if next == 0 {
		return
	}
	last := d.parts[next-1]
	for _, s := range append([]*shape{last.value}, last.around()...) {
		if s.flow && here.before(s.end) {
			s.flow = false
		}
	}
}

// around are the shapes that the part stands in, the innermost first.
func (p *part) around() []*shape {
	var shapes []*shape
	for s := p.within; s != nil; s = s.owner.within {
		shapes = append(shapes, s)
		if s.owner == nil {
			break
		}
	}
	return shapes
}

// beside places a comment behind what stands on its line.
func (d *drawing) beside(text string, here spot, next int) {
	p := d.parts[next-1]
	for _, s := range p.around() {
		if s.end == (spot{}) || !s.end.before(here) || s.owner == nil {
			break // it goes on behind the comment
		}
		p = s.owner
	}
	if p.beside != "" {
		p.head = append(p.head, remark{text: text})
		return
	}
	p.beside = text
}

// above places a comment on a line of its own: with the part behind it, unless
// it stands further in than that, at the end of a block.
func (d *drawing) above(r remark, here spot, next int) {
	last := d.parts[next-1]
	var following *part
	if next < len(d.parts) {
		following = d.parts[next]
	}
	var closed []*shape // by the following part, the innermost first
	for _, s := range append([]*shape{last.value}, last.around()...) {
		inBrackets := s.end != (spot{})
		switch {
		case len(s.parts) == 0 && !inBrackets:
		case inBrackets && s.end.before(here):
		case following == nil || inBrackets && s.end.before(following.at):
			closed = append(closed, s)
		case !slices.Contains(following.around(), s) && len(s.parts) > 0:
			closed = append(closed, s)
		}
		if inBrackets && here.before(s.end) {
			break
		}
	}
	for _, s := range closed {
		if s.end != (spot{}) || s.column() <= here.column {
			if following == nil || s.end != (spot{}) || here.column > following.at.column {
				s.foot = append(s.foot, r)
				return
			}
		}
	}
	if following == nil {
		closed[len(closed)-1].foot = append(closed[len(closed)-1].foot, r)
		return
	}
	following.head = append(following.head, r)
}

// column is where the parts of a shape begin.
func (s *shape) column() int { return s.parts[0].at.column }

// arrange puts keys into the order of the table. The shape is a mapping of the
// table's mapping in, or a list of those; named says that its keys are names
// that the author chose.
func (s *shape) arrange(in string, named bool) {
	if s.kind == sequence {
		for _, p := range s.parts {
			p.value.arrange(in, false)
		}
		return
	}
	place := func(p *part) int {
		i := slices.IndexFunc(keys[:], func(k Key) bool { return k.In == in && k.Name == p.name })
		if i < 0 {
			return len(keys)
		}
		return i
	}
	for _, p := range s.parts {
		if named {
			p.value.arrange(in, false)
			continue
		}
		if i := place(p); i < len(keys) {
			p.value.arrange(keys[i].Path(), keys[i].Named)
		}
	}
	if !named {
		slices.SortStableFunc(s.parts, func(a, b *part) int { return place(a) - place(b) })
	}
}
