package contract

import (
	"strings"
	"unicode/utf8"
)

// widest is how many characters a line may have for what is in brackets to stay
// there.
const widest = 100

// printer writes shapes.
type printer struct{ strings.Builder }

func (p *printer) document(header []remark, root *shape) {
	for _, r := range header {
		if r.blank && p.Len() > 0 {
			p.WriteByte('\n')
		}
		if r.text != "" {
			p.WriteString(r.text + "\n")
		}
	}
	switch {
	case root.kind != mapping && root.kind != sequence:
		p.value(root, 0, "", "")
	case len(root.parts) == 0:
		p.WriteString(flowText(root) + "\n")
		p.remarks(root.foot, 0, true)
	default:
		p.parts(root, 0)
	}
}

// parts writes what a mapping or a list holds, each behind a given indentation.
func (p *printer) parts(s *shape, indent int) {
	for i, part := range s.parts {
		p.lead(part, indent, i > 0)
		p.WriteString(strings.Repeat(" ", indent))
		p.part(part, indent)
	}
	p.remarks(s.foot, indent, true)
}

// lead writes what stands above a part.
func (p *printer) lead(part *part, indent int, spaced bool) {
	remarks := above(part, indent)
	p.remarks(remarks, indent, spaced)
	if part.blank && (spaced || len(remarks) > 0) {
		p.WriteByte('\n')
	}
}

// above are the comments that stand above a part: its own, and those of what
// begins on the same line and has no room for them.
func above(q *part, indent int) []remark {
	remarks := q.head
	v := q.value
	switch {
	case v.kind != mapping && v.kind != sequence:
		return remarks
	case len(v.parts) == 0:
		return append(remarks[:len(remarks):len(remarks)], v.foot...)
	case q.key == "" && v.kind == mapping && !fits(q, indent):
		if q.beside != "" {
			remarks = append(remarks[:len(remarks):len(remarks)], remark{text: q.beside})
		}
		return append(remarks[:len(remarks):len(remarks)], above(v.parts[0], indent+2)...)
	}
	return remarks
}

func (p *printer) remarks(remarks []remark, indent int, spaced bool) {
	for i, r := range remarks {
		if r.blank && (spaced || i > 0) {
			p.WriteByte('\n')
		}
		p.WriteString(strings.Repeat(" ", indent) + r.text + "\n")
	}
}

// part writes a key or a dash, and the value.
func (p *printer) part(q *part, indent int) {
	lead := q.key + ":"
	if q.key == "" {
		lead = "-"
	}
	p.WriteString(lead)
	v := q.value
	isBlock := (v.kind == mapping || v.kind == sequence) && !fits(q, indent)
	switch {
	case !isBlock:
		p.value(v, indent, " ", q.beside)
	case q.key == "" && v.kind == mapping:
		p.WriteByte(' ')
		p.part(v.parts[0], indent+2)
		for _, other := range v.parts[1:] {
			p.lead(other, indent+2, true)
			p.WriteString(strings.Repeat(" ", indent+2))
			p.part(other, indent+2)
		}
		p.remarks(v.foot, indent+2, true)
	default:
		p.end(q.beside)
		p.parts(v, indent+2)
	}
}

// value writes what stands on the line of its key.
func (p *printer) value(v *shape, indent int, space, beside string) {
	if text := flowText(v); text != "" {
		p.WriteString(space + text)
	}
	p.end(beside)
	for _, line := range v.lines {
		if line != "" {
			p.WriteString(strings.Repeat(" ", indent+2) + line)
		}
		p.WriteByte('\n')
	}
}

// end ends a line, a comment before that.
func (p *printer) end(beside string) {
	if beside != "" {
		p.WriteString("  " + beside)
	}
	p.WriteByte('\n')
}

// fits says whether a part's mapping or list stays in brackets on its line.
func fits(q *part, indent int) bool {
	if len(q.value.parts) == 0 {
		return true
	}
	return q.value.flow && indent+utf8.RuneCountInString(q.key)+2+utf8.RuneCountInString(flowText(q.value)) <= widest
}

// flowText is a value on one line.
func flowText(v *shape) string {
	texts := make([]string, len(v.parts))
	for i, q := range v.parts {
		texts[i] = flowText(q.value)
		if q.key != "" {
			texts[i] = strings.TrimRight(q.key+": "+texts[i], " ")
		}
	}
	switch v.kind {
	case mapping:
		return "{" + strings.Join(texts, ", ") + "}"
	case sequence:
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return v.raw
}
