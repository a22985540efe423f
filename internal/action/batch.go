package action

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBatch is how many declarations a batch may have.
const maxBatch = 1000

// ParseBatch reads {"actions": […]}. Errors: [InvalidError] with all that is wrong
// with any of them. The body must not be changed any more.
func ParseBatch(body []byte) ([]*Declaration, error) {
	r := reader{in: jsontext.NewDecoder(bytes.NewReader(body)), to: &Declaration{}}
	var bodies [][]byte
	there := false
	err := r.object(func(name string) error {
		if name != "actions" {
			r.problem(name, "there is no such member beside actions")
			return r.in.SkipValue()
		}
		if kind := r.in.PeekKind(); kind != jsontext.KindBeginArray && kind != jsontext.KindInvalid {
			r.problem(name, "has to be a list of declarations")
			there = true
			return r.in.SkipValue()
		}
		there = true
		if _, err := r.in.ReadToken(); err != nil {
			return err
		}
		for r.in.PeekKind() != jsontext.KindEndArray {
			one, err := r.in.ReadValue()
			if err != nil {
				return err
			}
			bodies = append(bodies, bytes.Clone(one))
		}
		_, err := r.in.ReadToken()
		return err
	})
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		return nil, &InvalidError{Problems: []Problem{syntax(err)}}
	case len(r.problems) > 0:
		return nil, &InvalidError{Problems: r.problems}
	case !there:
		return nil, &InvalidError{Problems: []Problem{{Field: "actions", Message: "is missing"}}}
	case len(bodies) == 0 || len(bodies) > maxBatch:
		return nil, &InvalidError{Problems: []Problem{{Field: "actions", Message: fmt.Sprintf("has %d declarations; a batch has 1 to %d", len(bodies), maxBatch)}}}
	}
	declarations := make([]*Declaration, len(bodies))
	var problems []Problem
	for i, one := range bodies {
		d, wrong := parse(one)
		for _, p := range wrong {
			p.Index = i
			problems = append(problems, p)
		}
		declarations[i] = d
	}
	if len(problems) > 0 {
		return nil, &InvalidError{Of: len(bodies), Problems: problems}
	}
	return declarations, nil
}
