package intent

import (
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/redact/lexer"
)

// plan finds all places that are asked for in one pass over the text of an
// object. It decodes nothing but member names with escapes.
type plan struct {
	branches []branch // the first one is the object itself
	places   int
}

// branch is a step that paths have in common.
type branch struct {
	way      string // for messages: the path up to here
	members  map[string]int
	elements map[int]int
	places   []int // that end here
}

func newPlan(paths ...Path) *plan {
	p := &plan{branches: make([]branch, 1), places: len(paths)}
	for place, path := range paths {
		p.add(path, place)
	}
	return p
}

func (p *plan) add(path Path, place int) {
	at := 0
	for i, s := range path.Segments {
		next, known := p.branches[at].members[s.Name]
		if !known {
			next = len(p.branches)
			names := make([]string, 0, i+1)
			for _, one := range path.Segments[:i+1] {
				names = append(names, one.Name)
			}
			p.branches = append(p.branches, branch{way: QuotePath(names...)})
			if p.branches[at].members == nil {
				p.branches[at].members = map[string]int{}
			}
			p.branches[at].members[s.Name] = next
		}
		if s.Index != none {
			if p.branches[at].elements == nil {
				p.branches[at].elements = map[int]int{}
			}
			p.branches[at].elements[s.Index] = next
		}
		at = next
	}
	p.branches[at].places = append(p.branches[at].places, place)
}

// span is a value in a text: from start to end. A zero one is none.
type span struct {
	start, end int
	kind       lexer.Kind // Open, String or Literal
}

func (s span) found() bool { return s.end > 0 }

// search is one pass over one text.
type search struct {
	plan    *plan
	data    []byte
	lexer   lexer.Lexer
	found   []span
	visited []bool
	twice   string // the first place that stands twice
}

// find returns where each place is. Its error is a [*NotDeclarable].
func (p *plan) find(data []byte) ([]span, error) {
	s := search{plan: p, data: data, found: make([]span, p.places), visited: make([]bool, len(p.branches))}
	s.lexer.Reset(data)
	first := s.lexer.Next()
	whole := first.Kind == lexer.Open && data[first.Start] == '{' && s.value(0, first) && s.lexer.Next().Kind == lexer.End
	switch {
	case !whole:
		return nil, &NotDeclarable{Reason: Unreadable}
	case s.twice != "":
		return nil, &NotDeclarable{Reason: Twice, Path: s.twice}
	}
	return s.found, nil
}

// value reads the value that begins with a token. It calls itself as deep as
// the plan has branches and not as deep as the text is nested. It is not whole
// if the text is no JSON.
func (s *search) value(at int, t lexer.Token) (whole bool) {
	b := &s.plan.branches[at]
	if s.visited[at] && s.twice == "" {
		s.twice = b.way
	}
	s.visited[at] = true
	switch t.Kind {
	case lexer.String, lexer.Literal:
		whole = !t.Cut
	case lexer.Open:
		switch {
		case s.data[t.Start] == '{' && len(b.members) > 0:
			whole = s.object(b)
		case s.data[t.Start] == '[' && len(b.elements) > 0:
			whole = s.list(b)
		default:
			whole = s.skip(t)
		}
	}
	for _, place := range b.places {
		s.found[place] = span{start: t.Start, end: s.lexer.Pos(), kind: t.Kind}
	}
	return whole
}

func (s *search) object(b *branch) (whole bool) {
	for {
		t := s.lexer.Next()
		if t.Kind == lexer.Close {
			return true
		}
		if t.Kind != lexer.Key || t.Cut {
			return false
		}
		next, wanted := s.member(b, t)
		if t = s.lexer.Next(); wanted {
			whole = s.value(next, t)
		} else {
			whole = s.skip(t)
		}
		if !whole {
			return false
		}
	}
}

// member is the branch of a member's name, however that is escaped.
func (s *search) member(b *branch, t lexer.Token) (next int, wanted bool) {
	if t.Escaped {
		next, wanted = b.members[decode(s.data[t.Start:t.End])]
		return next, wanted
	}
	start, end := t.Text()
	next, wanted = b.members[string(s.data[start:end])]
	return next, wanted
}

func (s *search) list(b *branch) (whole bool) {
	for i := 0; ; i++ {
		t := s.lexer.Next()
		if t.Kind == lexer.Close {
			return true
		}
		if next, wanted := b.elements[i]; wanted {
			whole = s.value(next, t)
		} else {
			whole = s.skip(t)
		}
		if !whole {
			return false
		}
	}
}

// skip reads a value that begins with a token to its end.
func (s *search) skip(t lexer.Token) (whole bool) {
	if t.Kind == lexer.String || t.Kind == lexer.Literal {
		return !t.Cut
	}
	if t.Kind != lexer.Open {
		return false
	}
	for outside := s.lexer.Depth() - 1; s.lexer.Depth() > outside; {
		if t = s.lexer.Next(); t.Kind == lexer.Broken || t.Kind == lexer.End || t.Cut {
			return false
		}
	}
	return true
}

// decode is the text of a JSON string. What no text can hold, half a surrogate
// pair or a byte that is no UTF-8, stays in it the way it is spelled.
func decode(raw []byte) string {
	whole, _ := protocol.Text(protocol.Token{Raw: raw, Size: int64(len(raw))})
	return whole
}
