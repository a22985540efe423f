package setting

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/deed-dev/deed/internal/likeness"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// parseFile reads a file of settings: one flat mapping of names to values. All
// that is wrong is told, each with its line.
func parseFile(name string, text []byte) (map[string]given, Problems) {
	at := func(n ast.Node) Origin {
		return Origin(fmt.Sprintf("%s:%d", name, n.GetToken().Position.Line))
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, Problems{noYAML(name, err)}
	}
	var pairs []*ast.MappingValueNode
	var problems Problems
	for i, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.MappingNode:
			pairs = append(pairs, body.Values...)
		case *ast.MappingValueNode:
			pairs = append(pairs, body)
		default:
			problems = append(problems, Problem{Origin: at(body), Message: "a setting is written as name: value"})
		}
		if i > 0 && doc.Body != nil {
			problems = append(problems, Problem{Origin: at(doc.Body), Message: "there are several documents where one is wanted"})
		}
	}
	found := map[string]given{}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		origin := at(pair.Key)
		if problem := unknown(key, origin); problem != nil {
			problems = append(problems, *problem)
			continue
		}
		if before, twice := found[key]; twice {
			problems = append(problems, Problem{Setting: key, Origin: origin, Message: "it is there twice, first at " + string(before.origin)})
			continue
		}
		value, err := scalar(pair.Value)
		if err != nil {
			problems = append(problems, Problem{Setting: key, Origin: origin, Message: err.Error()})
			continue
		}
		found[key] = given{value: value, origin: origin, file: name}
	}
	return found, problems
}

var position = regexp.MustCompile(`^\[(\d+):\d+\] `)

// noYAML words what the parser found, without the lines of the file that it would
// show, since a password may stand in them.
func noYAML(name string, err error) Problem {
	message, _, _ := strings.Cut(strings.TrimSpace(yaml.FormatError(err, false, false)), "\n")
	at := name
	if found := position.FindStringSubmatch(message); found != nil {
		at, message = name+":"+found[1], message[len(found[0]):]
	}
	return Problem{Origin: Origin(at), Message: "it is no YAML: " + message}
}

// unknown says what is wrong with a key, if anything.
func unknown(key string, origin Origin) *Problem {
	var names []string
	for _, s := range Table() {
		switch {
		case s.Name == file:
		case s.Name == key:
			return nil
		default:
			names = append(names, s.Name)
		}
	}
	hint := "settings: " + strings.Join(names, ", ")
	if meant := likeness.Closest(key, names); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	if key == file {
		hint = "name one file, with --config or DEED_CONFIG"
	}
	return &Problem{Origin: origin, Message: fmt.Sprintf("there is no setting %q", key), Hint: hint}
}

// scalar is a value as it is written, and of a list its elements with commas
// between.
func scalar(n ast.Node) (string, error) {
	switch v := n.(type) {
	case *ast.NullNode, nil:
		return "", fmt.Errorf("it has no value")
	case *ast.SequenceNode:
		var all []string
		for _, one := range v.Values {
			text, err := scalar(one)
			if err != nil {
				return "", err
			}
			if strings.Contains(text, ",") {
				return "", fmt.Errorf("an element of a list cannot hold a comma") // it may be a secret
			}
			all = append(all, text)
		}
		return strings.Join(all, ","), nil
	case *ast.StringNode, *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode:
		return n.GetToken().Value, nil
	}
	return "", fmt.Errorf("it is neither a value nor a list of values")
}
