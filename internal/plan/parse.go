package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/deed-dev/deed/internal/likeness"
)

// Bounds of what a file may say.
const (
	maxTitle   = 80 // characters
	maxActions = 1_000_000_000_000
)

// Key is a key of a plan.
type Key struct {
	Name, Sentence string
}

const (
	titleKey   = "title"
	actionsKey = "actions_per_month"
	featureKey = "features"
	upgradeKey = "upgrade_to"
)

// Keys are the keys of a plan, in the order of the documentation.
func Keys() []Key {
	return []Key{
		{titleKey, "Its name for people."},
		{actionsKey, "How many actions a month are included. What is beyond is recorded and verified all the same, and flagged."},
		{featureKey, "A list of the features that are in it."},
		{upgradeKey, "The next plan up, which is named where this one does not have what was asked for."},
	}
}

// Parse reads a file of plans, whose name is for problems. An error is [Problems],
// all that there are.
func Parse(name string, source []byte) (*Book, error) {
	r := &reader{file: name, book: &Book{plans: map[string]Plan{}}, upgrades: map[string]place{}}
	if root := r.plant(source); root != nil {
		r.read(root)
		r.ways()
	}
	if len(r.problems) > 0 {
		r.problems.sort()
		return nil, r.problems
	}
	return r.book, nil
}

type reader struct {
	file     string
	book     *Book
	problems Problems
	upgrades map[string]place // where each plan's upgrade_to stands
}

// place is where something stands.
type place struct{ line, column int }

func placeOf(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{1, 1}
	}
	at := n.GetToken().Position
	return place{at.Line, max(at.Column, 1)}
}

// about is what a problem is about.
type about struct {
	place
	plan, key string
}

func (r *reader) problem(at about, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: at.line, Column: at.column, Plan: at.plan, Key: at.key, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func (r *reader) read(root ast.Node) {
	found := false
	for _, p := range r.pairs(root, about{place: placeOf(root)}, example) {
		if p.name != "plans" {
			r.problem(about{place: p.at}, example, "there is no key %q here", clip(p.name))
			continue
		}
		found = true
		for _, one := range r.pairs(p.value, about{place: p.at, key: "plans"}, "write each plan below, by its name") {
			r.plan(one)
		}
	}
	if !found && len(r.problems) == 0 {
		r.problem(about{place: place{1, 1}}, example, "the file has no plans")
	}
}

// plan reads what stands under a plan's name.
func (r *reader) plan(named pair) {
	if !IsName(named.name) {
		r.problem(about{place: named.at}, NameForm, "%q cannot be the name of a plan", clip(named.name))
		return
	}
	p := Plan{Name: named.name, Title: named.name, Features: allFeatures()}
	for _, k := range r.pairs(named.value, about{place: named.at, plan: p.Name}, "write {} for a plan without limits") {
		at := about{k.at, p.Name, k.name}
		switch k.name {
		case titleKey:
			p.Title = r.title(k.value, at)
		case actionsKey:
			p.ActionsPerMonth, p.Limited = r.actions(k.value, at), true
		case featureKey:
			p.Features = r.features(k.value, at)
		case upgradeKey:
			p.UpgradeTo = r.upgrade(k.value, at)
			r.upgrades[p.Name] = k.at
		default:
			r.unknown(k, at)
		}
	}
	r.book.plans[p.Name] = p
	r.book.names = append(r.book.names, p.Name)
}

func (r *reader) unknown(k pair, at about) {
	var names []string
	for _, known := range Keys() {
		names = append(names, known.Name)
	}
	hint := "there are " + strings.Join(names, ", ")
	if meant := likeness.Closest(k.name, names); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	at.key = ""
	r.problem(at, hint, "there is no key %q here", clip(k.name))
}

// text reads a text of one line.
func (r *reader) text(n ast.Node, at about, hint string) string {
	s, is := n.(*ast.StringNode)
	if !is {
		r.problem(at, hint, "here stands %s instead of a text", kindOf(n))
		return ""
	}
	return s.Value
}

func (r *reader) title(n ast.Node, at about) string {
	before := len(r.problems)
	title := r.text(n, at, "write a text, in quotes if it looks like something else")
	if len(r.problems) > before {
		return ""
	}
	if strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > maxTitle || strings.ContainsFunc(title, unicode.IsControl) {
		r.problem(at, "", "a title is a line of 1 to %d characters", maxTitle)
	}
	return title
}

func (r *reader) actions(n ast.Node, at about) int64 {
	hint := fmt.Sprintf("write a whole number from 0 to %d in digits alone, or leave the key out for no limit", int64(maxActions))
	number, is := n.(*ast.IntegerNode)
	if !is {
		r.problem(at, hint, "here stands %s instead of a whole number", shown(n))
		return 0
	}
	text := number.GetToken().Value
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil || count < 0 || count > maxActions {
		r.problem(at, hint, "%s is no number of actions", clip(text))
	}
	return count
}

func (r *reader) upgrade(n ast.Node, at about) string {
	const hint = "name another plan, or leave the key out of the highest one"
	before := len(r.problems)
	name := r.text(n, at, hint)
	if name == "" && len(r.problems) == before {
		r.problem(at, hint, "the text is empty")
	}
	return name
}

// shown is a node in a problem where its kind alone would not explain it.
func shown(n ast.Node) string {
	if number, is := n.(*ast.FloatNode); is {
		return clip(number.GetToken().Value)
	}
	return kindOf(n)
}

func (r *reader) features(n ast.Node, at about) []Feature {
	all := allFeatures()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	list, is := n.(*ast.SequenceNode)
	if !is {
		r.problem(at, "write [] for none of them, or leave the key out for all: "+strings.Join(names, ", "), "here stands %s instead of a list", kindOf(n))
		return nil
	}
	var in []Feature
	for _, item := range list.Values {
		at.place = placeOf(item)
		before := len(r.problems)
		name := r.text(item, at, "there are "+strings.Join(names, ", "))
		switch {
		case len(r.problems) > before:
		case !slices.Contains(names, name):
			hint := "there are " + strings.Join(names, ", ")
			if meant := likeness.Closest(name, names); meant != "" {
				hint = "did you mean " + meant + "?"
			}
			r.problem(at, hint, "there is no feature %q", clip(name))
		case slices.Contains(in, Feature(name)):
			r.problem(at, "keep one of them", "%s is there twice", name)
		default:
			in = append(in, Feature(name))
		}
	}
	return slices.DeleteFunc(all, func(f Feature) bool { return !slices.Contains(in, f) })
}

// ways holds against each other which plan leads to which: each is there, and no way
// up comes back.
func (r *reader) ways() {
	told := map[string]bool{} // of a circle
	for _, name := range r.book.names {
		at := about{r.upgrades[name], name, upgradeKey}
		up := r.book.plans[name].UpgradeTo
		if up == "" {
			continue
		}
		if !slices.Contains(r.book.Names(), up) {
			hint := "plans: " + strings.Join(r.book.Names(), ", ")
			if meant := likeness.Closest(up, r.book.Names()); meant != "" {
				hint = "did you mean " + meant + "?"
			}
			r.problem(at, hint, "there is no plan %q", clip(up))
			continue
		}
		walked := []string{name}
		for up != "" && !slices.Contains(walked, up) {
			walked = append(walked, up)
			up = r.book.plans[up].UpgradeTo
		}
		if up == name && !told[name] {
			r.problem(at, "leave the key out of the highest plan", "the way up comes back: %s", strings.Join(append(walked, name), ", "))
			for _, one := range walked {
				told[one] = true
			}
		}
	}
}
