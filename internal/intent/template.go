package intent

import (
	"errors"
	"fmt"
	"strings"
)

// template is a text with places in it: the pieces of text and the places
// between them, of which there is one less.
type template struct {
	texts  []string
	places []int
}

// parseTemplate reads a template. The paths are its places, in order; a brace
// within a quoted name of a path is part of the name.
func parseTemplate(text string) (texts []string, paths []Path, err error) {
	rest := text
	for {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return append(texts, rest), paths, nil
		}
		if rest[at] == '}' {
			return nil, nil, errors.New("a closing brace has no opening one before it")
		}
		inside, after, closed := cutPlaceholder(rest[at+1:])
		if !closed {
			return nil, nil, errors.New("an opening brace has no closing one behind it")
		}
		path, err := ParsePath(inside)
		if err != nil {
			return nil, nil, fmt.Errorf("the place {%s}: %w", clip(inside), err)
		}
		texts, paths = append(texts, rest[:at]), append(paths, path)
		rest = after
	}
}

// cutPlaceholder cuts what is within braces. Quotes count only where a segment
// of the path begins.
func cutPlaceholder(text string) (inside, after string, closed bool) {
	begins := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '}':
			return text[:i], text[i+1:], true
		case c == '{':
			return "", "", false
		case c == '"' && begins:
			_, rest, ends := unquote(text[i+1:])
			if !ends {
				return "", "", false
			}
			i = len(text) - len(rest) - 1
			begins = false
		default:
			begins = c == '.'
		}
	}
	return "", "", false
}
