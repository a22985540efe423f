package console

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/deed-dev/deed/internal/likeness"
	"github.com/deed-dev/deed/internal/money"
)

// CSVMapping says which column of a CSV file is which part of a fact. Each text is
// a template: {column} stands for what the row has there. A part whose columns are
// all empty is left out of the fact.
type CSVMapping struct {
	Source      string            `yaml:"source"`
	ExternalID  string            `yaml:"external_id"`
	Type        string            `yaml:"type"`
	SubjectID   string            `yaml:"subject_id"`
	SubjectKind string            `yaml:"subject_kind"`
	OccurredAt  string            `yaml:"occurred_at"`
	ObservedAt  string            `yaml:"observed_at"`
	Refs        map[string]string `yaml:"refs"`
	Attrs       map[string]any    `yaml:"attrs"` // a template, or {number: …}, {amount: …, currency: …}, {time: …}

	// TimeLayout is how times are written, as Go writes layouts; RFC 3339 if empty.
	// Zone is theirs if the layout has none.
	TimeLayout string `yaml:"time_layout"`
	Zone       string `yaml:"zone"`
	Comma      string `yaml:"comma"` // between columns; a comma if empty

	zone *time.Location
}

var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// ParseCSVMapping reads a mapping. Errors name the line and the key.
func ParseCSVMapping(name string, text []byte) (*CSVMapping, error) {
	m := &CSVMapping{}
	if err := yaml.UnmarshalWithOptions(text, m, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, false))
	}
	for _, one := range [][2]string{{"source", m.Source}, {"external_id", m.ExternalID}, {"type", m.Type}, {"occurred_at", m.OccurredAt}} {
		if one[1] == "" {
			return nil, fmt.Errorf("%s: the key %s is missing", name, one[0])
		}
	}
	if len(m.Comma) > 1 {
		return nil, fmt.Errorf("%s: comma is one character, such as \";\"", name)
	}
	m.zone = time.UTC
	if m.Zone != "" {
		zone, err := time.LoadLocation(m.Zone)
		if err != nil {
			return nil, fmt.Errorf("%s: there is no zone %q; one looks like Europe/Berlin", name, m.Zone)
		}
		m.zone = zone
	}
	for _, attr := range slices.Sorted(maps.Keys(m.Attrs)) {
		if _, err := m.value(m.Attrs[attr], func(string) string { return "1" }, true); err != nil {
			return nil, fmt.Errorf("%s: attrs.%s: %w", name, attr, err)
		}
	}
	return m, nil
}

// templates are all templates of the mapping.
func (m *CSVMapping) templates() []string {
	all := []string{m.Source, m.ExternalID, m.Type, m.SubjectID, m.SubjectKind, m.OccurredAt, m.ObservedAt}
	for _, text := range m.Refs {
		all = append(all, text)
	}
	for _, v := range m.Attrs {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case map[string]any:
			for _, part := range v {
				all = append(all, fmt.Sprint(part))
			}
		}
	}
	return all
}

// check refuses a mapping that names columns which are not there.
func (m *CSVMapping) check(index map[string]int) error {
	var have []string
	for column := range index {
		have = append(have, column)
	}
	slices.Sort(have)
	for _, template := range m.templates() {
		for _, found := range placeholder.FindAllStringSubmatch(template, -1) {
			if _, ok := index[found[1]]; ok {
				continue
			}
			err := fmt.Errorf("the mapping names the column %q, which is not there", found[1])
			if near := likeness.Closest(found[1], have); near != "" {
				err = fmt.Errorf("%w; did you mean %q?", err, near)
			}
			return err
		}
	}
	return nil
}

// fill puts a row's values into a template. It is empty where the template names
// columns and all of them are.
func fill(template string, column func(string) string) string {
	named, given := false, false
	text := placeholder.ReplaceAllStringFunc(template, func(found string) string {
		value := strings.TrimSpace(column(found[1 : len(found)-1]))
		named, given = true, given || value != ""
		return value
	})
	if named && !given {
		return ""
	}
	return text
}

// fact makes the JSON of one row.
func (m *CSVMapping) fact(column func(string) string) ([]byte, error) {
	fact := map[string]any{}
	for key, template := range map[string]string{
		"source": m.Source, "external_id": m.ExternalID, "type": m.Type, "subject_id": m.SubjectID, "subject_kind": m.SubjectKind,
	} {
		if text := fill(template, column); text != "" {
			fact[key] = text
		}
	}
	for _, one := range [][2]string{{"occurred_at", m.OccurredAt}, {"observed_at", m.ObservedAt}} {
		key, text := one[0], fill(one[1], column)
		if text == "" {
			continue
		}
		at, err := m.time(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		fact[key] = at
	}
	refs := map[string]string{}
	for name, template := range m.Refs {
		if text := fill(template, column); text != "" {
			refs[name] = text
		}
	}
	if len(refs) > 0 {
		fact["refs"] = refs
	}
	attrs := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(m.Attrs)) {
		value, err := m.value(m.Attrs[name], column, false)
		if err != nil {
			return nil, fmt.Errorf("attrs.%s: %w", name, err)
		}
		if value != nil {
			attrs[name] = value
		}
	}
	if len(attrs) > 0 {
		fact["attrs"] = attrs
	}
	return marshal(fact)
}

// value makes an attribute. nil is none. shape only looks at what kind it is.
func (m *CSVMapping) value(v any, column func(string) string, shape bool) (any, error) {
	if text, ok := v.(string); ok {
		if filled := fill(text, column); filled != "" {
			return filled, nil
		}
		return nil, nil
	}
	parts, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("is neither a template nor {number: …}, {amount: …, currency: …} or {time: …}")
	}
	template := func(key string) string { return fill(fmt.Sprint(parts[key]), column) }
	has := func(keys ...string) bool {
		for _, key := range keys {
			if parts[key] == nil {
				return false
			}
		}
		return len(parts) == len(keys)
	}
	switch {
	case has("number"):
		text := template("number")
		if text == "" || shape {
			return nil, nil
		}
		if _, err := money.ParseDecimal(text); err != nil {
			return nil, fmt.Errorf("%q is no number such as 180.00", text)
		}
		return number(text), nil
	case has("amount", "currency"):
		text := template("amount")
		if text == "" || shape {
			return nil, nil
		}
		if _, err := money.ParseDecimal(text); err != nil {
			return nil, fmt.Errorf("%q is no amount such as 180.00", text)
		}
		return map[string]string{"amount": text, "currency": template("currency")}, nil
	case has("time"):
		text := template("time")
		if text == "" || shape {
			return nil, nil
		}
		at, err := m.time(text)
		return map[string]string{"time": at}, err
	}
	return nil, errors.New("is neither a template nor {number: …}, {amount: …, currency: …} or {time: …}")
}

// number is a number's text as JSON.
type number string

// MarshalJSON writes the number digit for digit.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func (m *CSVMapping) time(text string) (string, error) {
	layout := m.TimeLayout
	if layout == "" {
		layout = time.RFC3339Nano
	}
	at, err := time.ParseInLocation(layout, text, m.zone)
	if err != nil {
		return "", fmt.Errorf("%q is no time in the layout %s (time_layout in the mapping)", text, layout)
	}
	return at.UTC().Format(time.RFC3339Nano), nil
}
