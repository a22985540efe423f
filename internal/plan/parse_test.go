package plan

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const three = `# what we sell
plans:
  default:
    title: Free
    actions_per_month: 1000
    features: []
    upgrade_to: team
  team:
    title: "Team"
    actions_per_month: 100000
    features: [dry_runs]
    upgrade_to: business
  business: {title: Business}
`

func parsed(t *testing.T, text string) *Book {
	t.Helper()
	b, err := Parse("plans.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAFileSaysWhatEachPlanHas(t *testing.T) {
	t.Parallel()
	b := parsed(t, three)
	for _, want := range []Plan{
		{Name: "default", Title: "Free", ActionsPerMonth: 1000, Limited: true, Features: []Feature{}, UpgradeTo: "team"},
		{Name: "team", Title: "Team", ActionsPerMonth: 100_000, Limited: true, Features: []Feature{DryRuns}, UpgradeTo: "business"},
		{Name: "business", Title: "Business", Features: []Feature{Drafts, DryRuns}},
	} {
		if diff := cmp.Diff(want, b.Of(want.Name)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := b.Names(); !slices.Equal(got, []string{"default", "team", "business"}) {
		t.Errorf("the plans are %v", got)
	}
}

func TestWhatAPlanDoesNotSayIsNotLimited(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plan{
		"no file": (*Book)(nil).Of("default"), "no plan": (*Book)(nil).Of(""), "a file without the default": parsed(t, "plans: {team: {}}").Of("default"),
		"a plan without keys": parsed(t, "plans: {default: {}}").Of(""),
	} {
		if diff := cmp.Diff(Plan{Name: "default", Title: "default", Features: []Feature{Drafts, DryRuns}}, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := parsed(t, "plans: {team: {}}").Names(); !slices.Equal(got, []string{"default", "team"}) {
		t.Errorf("the plans are %v", got)
	}
}

func TestAPlanThatVanishedHasNoLimitAndEveryFeature(t *testing.T) {
	t.Parallel()
	want := Plan{Name: "gold", Title: "gold", Features: []Feature{Drafts, DryRuns}, Missing: true}
	for name, b := range map[string]*Book{"from the file": parsed(t, three), "with the file": nil} {
		if diff := cmp.Diff(want, b.Of("gold")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := b.Require("gold", Drafts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatAPlanLeavesOutIsRefusedWithTheNearestPlanThatHasIt(t *testing.T) {
	t.Parallel()
	b := parsed(t, three+"  lone: {features: []}\n")
	for _, one := range []struct {
		plan    string
		feature Feature
		want    string
	}{
		{"default", DryRuns, "the plan default does not include dry_runs; the plan team does"},
		{"default", Drafts, "the plan default does not include drafts; the plan business does"},
		{"", Drafts, "the plan default does not include drafts; the plan business does"},
		{"team", Drafts, "the plan team does not include drafts; the plan business does"},
		{"lone", Drafts, "the plan lone does not include drafts"},
		{"team", DryRuns, ""},
		{"business", Drafts, ""},
	} {
		err := b.Require(one.plan, one.feature)
		if got := message(err); got != one.want {
			t.Errorf("%s of %q: %q, want %q", one.feature, one.plan, got, one.want)
		}
		if refused, is := errors.AsType[*RequiredError](err); is && refused.Code() != "plan_required" {
			t.Errorf("the code is %s", refused.Code())
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestWhatIsWrongIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	under := func(lines string) string { return "plans:\n  team:\n    " + lines + "\n" }
	for name, one := range map[string]struct {
		text string
		want string // the problems, a line each
		hint string // a part of the first one's
	}{
		"nothing":                    {"", "1:1: the file has no plans", "plans:"},
		"a comment":                  {"# to do\n", "1:1: the file has no plans", "plans:"},
		"a list":                     {"- team\n", "1:1: here stands a list instead of keys", "plans:"},
		"no UTF-8":                   {"plans: \xff\n", "1:1: the file is not UTF-8", "UTF-8"},
		"too much":                   {strings.Repeat("#\n", maxBytes/2+1), "1:1: the file is longer than 64 KiB", ""},
		"a long line":                {"plans: {}\n# " + strings.Repeat("x", maxLine) + "\n", "2:1: the line is longer than 1024 bytes", "several lines"},
		"deep brackets":              {"plans: " + strings.Repeat("[", 17), "1:24: the file is nested deeper than 16", ""},
		"deep dashes":                {strings.Repeat("- ", 17) + "a", "1:33: the file is nested deeper than 16", ""},
		"too many words":             {"plans:\n" + strings.Repeat("  a: 1\n", 4000), "3334:6: the file is too long", ""},
		"no YAML":                    {"plans:\n  team: {title: Team\n", "2:9: this is no YAML: could not find flow mapping end token '}'", "brackets"},
		"several documents":          {three + "---\nplans: {}\n", "15:6: there are several documents where one is wanted", ""},
		"another key":                {"plans: {}\nprices: {}\n", `2:1: there is no key "prices" here`, "plans:"},
		"no plans":                   {"{}", "1:1: the file has no plans", "plans:"},
		"plans without a value":      {"plans:\n", "1:1: plans: here stands nothing instead of keys", "by its name"},
		"plans in a list":            {"plans: [team]\n", "1:1: plans: here stands a list instead of keys", "by its name"},
		"a plan twice":               {"plans:\n  team: {}\n  team: {}\n", "3:3: plans: team is there twice, first in line 2", "keep one"},
		"a name with a capital":      {"plans:\n  Team: {}\n", `2:3: "Team" cannot be the name of a plan`, "small letters"},
		"a name that is a number":    {"plans:\n  1: {}\n", `2:3: "1" cannot be the name of a plan`, "small letters"},
		"a long name":                {"plans:\n  " + strings.Repeat("a", 65) + ": {}\n", `2:3: "` + strings.Repeat("a", 65) + `" cannot be the name of a plan`, "64"},
		"a plan without a value":     {"plans:\n  team:\n", "2:3: plan team: here stands nothing instead of keys", "write {}"},
		"a plan that is a text":      {"plans:\n  team: all\n", "2:3: plan team: here stands a text instead of keys", "write {}"},
		"an unknown key":             {under("action_per_month: 5"), `3:5: plan team: there is no key "action_per_month" here`, "did you mean actions_per_month?"},
		"a key that nothing is like": {under("price: 5"), `3:5: plan team: there is no key "price" here`, "title, actions_per_month, features, upgrade_to"},
		"retention":                  {under("retention: 30d"), `3:5: plan team: there is no key "retention" here`, "title"},
		"a key twice":                {under("title: A\n    title: B"), "4:5: plan team: title is there twice, first in line 3", "keep one"},
		"a merge key":                {"plans:\n  a: &a {title: A}\n  team:\n    <<: *a\n", "2:3: plan a: here stands an anchor, an alias or a tag instead of keys\n4:5: plan team: merge keys are not read here", "write {}"},
		"a title that is a number":   {under("title: 5"), "3:5: plan team: title: here stands a number instead of a text", "in quotes"},
		"a title that is missing":    {under("title:"), "3:5: plan team: title: here stands nothing instead of a text", "in quotes"},
		"an empty title":             {under(`title: " "`), "3:5: plan team: title: a title is a line of 1 to 80 characters", ""},
		"a title of two lines":       {under(`title: "a\nb"`), "3:5: plan team: title: a title is a line of 1 to 80 characters", ""},
		"a long title":               {under("title: " + strings.Repeat("ü", 81)), "3:5: plan team: title: a title is a line of 1 to 80 characters", ""},
		"a number in words":          {under("actions_per_month: many"), "3:5: plan team: actions_per_month: here stands a text instead of a whole number", "leave the key out for no limit"},
		"a number that is missing":   {under("actions_per_month:"), "3:5: plan team: actions_per_month: here stands nothing instead of a whole number", "leave the key out for no limit"},
		"a number in quotes":         {under(`actions_per_month: "5"`), "3:5: plan team: actions_per_month: here stands a text instead of a whole number", "digits"},
		"a part of an action":        {under("actions_per_month: 1.5"), "3:5: plan team: actions_per_month: here stands 1.5 instead of a whole number", "digits"},
		"less than nothing":          {under("actions_per_month: -1"), "3:5: plan team: actions_per_month: -1 is no number of actions", "from 0"},
		"more than there are":        {under("actions_per_month: 1000000000001"), "3:5: plan team: actions_per_month: 1000000000001 is no number of actions", "1000000000000"},
		"another base":               {under("actions_per_month: 0x10"), "3:5: plan team: actions_per_month: 0x10 is no number of actions", "digits"},
		"features in a text":         {under("features: drafts"), "3:5: plan team: features: here stands a text instead of a list", "[]"},
		"features that are missing":  {under("features:"), "3:5: plan team: features: here stands nothing instead of a list", "leave the key out for all: drafts, dry_runs"},
		"an unknown feature":         {under("features: [drafts, dryruns]"), `3:24: plan team: features: there is no feature "dryruns"`, "did you mean dry_runs?"},
		"what is no feature":         {under("features:\n      - proofs"), `4:9: plan team: features: there is no feature "proofs"`, "there are drafts, dry_runs"},
		"a feature twice":            {under("features: [drafts, drafts]"), "3:24: plan team: features: drafts is there twice", "keep one"},
		"a feature that is a number": {under("features: [1]"), "3:16: plan team: features: here stands a number instead of a text", "drafts, dry_runs"},
		"a way to nowhere":           {under("upgrade_to: busines\n  business: {}"), `3:5: plan team: upgrade_to: there is no plan "busines"`, "did you mean business?"},
		"a way to what is not there": {under("upgrade_to: gold"), `3:5: plan team: upgrade_to: there is no plan "gold"`, "plans: default, team"},
		"a way that is empty":        {under(`upgrade_to: ""`), "3:5: plan team: upgrade_to: the text is empty", "leave the key out"},
		"a way that is no text":      {under("upgrade_to: 5"), "3:5: plan team: upgrade_to: here stands a number instead of a text", "name another plan"},
		"a way to itself":            {under("upgrade_to: team"), "3:5: plan team: upgrade_to: the way up comes back: team, team", "highest"},
		"a circle, and ways into it": {
			"plans:\n  x: {upgrade_to: a}\n  a: {upgrade_to: b}\n  b: {upgrade_to: c}\n  c: {upgrade_to: a}\n",
			"3:7: plan a: upgrade_to: the way up comes back: a, b, c, a", "highest",
		},
		"all of it at once": {
			"plans:\n  a: {upgrade_to: a, title: 1}\n  B: {}\nmore: 1\n",
			"2:7: plan a: upgrade_to: the way up comes back: a, a\n2:22: plan a: title: here stands a number instead of a text\n" +
				"3:3: \"B\" cannot be the name of a plan\n4:1: there is no key \"more\" here", "highest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book, err := Parse("plans.yaml", []byte(one.text))
			problems, are := errors.AsType[Problems](err)
			if !are || book != nil {
				t.Fatalf("it is read as %v, %v", book, err)
			}
			if got := strings.ReplaceAll(problems.Error(), "plans.yaml:", ""); got != one.want {
				t.Errorf("told is\n%s\nwant\n%s", got, one.want)
			}
			if !strings.Contains(problems[0].Hint, one.hint) || (one.hint == "") != (problems[0].Hint == "") {
				t.Errorf("the hint is %q", problems[0].Hint)
			}
		})
	}
}

func TestAFileOfAnyEditorIsRead(t *testing.T) {
	t.Parallel()
	if got := parsed(t, "\ufeff"+strings.ReplaceAll(three, "\n", "\r\n")).Of("team"); got.Title != "Team" || got.ActionsPerMonth != 100_000 {
		t.Errorf("it is read as %+v", got)
	}
}

// The page for operators has the keys and the features in the words of the program.
func TestThePageShowsPlansAndHasEveryKeyAndFeature(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```text\nplans:\n")
	example, _, ends := strings.Cut(rest, "```")
	if !found || !ends {
		t.Fatal("docs/serve.md shows no plans")
	}
	if got := parsed(t, "plans:\n"+example).Names(); !slices.Equal(got, []string{"default", "team", "business"}) {
		t.Errorf("the page shows the plans %v", got)
	}
	var rows []string
	for _, k := range Keys() {
		rows = append(rows, "| `"+k.Name+"` | "+k.Sentence)
	}
	for _, d := range Features() {
		rows = append(rows, "| `"+string(d.Feature)+"` | "+d.Sentence)
	}
	for _, row := range rows {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/serve.md lacks %s", row)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{three, "plans: {a: &x {}, b: *x}", "plans:\n  a:\n    features: [!!str drafts]\n", "---\n---\n", "? a\n: b\n", "plans: {<<: {}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Parse("f", text)
		if problems, are := errors.AsType[Problems](err); err != nil && (!are || len(problems) == 0 || problems[0].Line < 1 || problems[0].Column < 1) {
			t.Fatalf("it is refused with %v", err)
		}
		if err != nil {
			return
		}
		for _, name := range b.Names() {
			_ = message(b.Require(name, Drafts)) // comes to an end
		}
	})
}
