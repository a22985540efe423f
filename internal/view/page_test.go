package view

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// answer is the whole body of a declaration's answer, without what only a server
// knows.
type answer struct {
	Recorded     string         `json:"recorded"`
	Action       *Action        `json:"action"`
	Verification Verification   `json:"verification"`
	Allowance    jsontext.Value `json:"allowance"`
	Warnings     jsontext.Value `json:"warnings"`
	Links        Links          `json:"links"`
}

const pageSite = Site("https://deed.example.com")

// The contract and the declaration that the page's examples come from are those of
// docs/case.md, in the version 3 that its digest stands for.
const pageContract = "contract: refund_workflow\nparams:\n  amount: {type: money, currency: currency, required: true}\n  currency: {type: currency, default: USD}\nsettle: {after: 72h, grace: 12h, max_skew: 2m}\nsources:\n  stripe: {trust: independent}\nlink:\n  - refs.idempotency_key == action_id\nsteps:\n  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}\nlimits:\n  - {id: single_cap, check: params.amount <= money(\"250.00 USD\")}\n"

// pageBody is the declaration that the page begins with.
func pageBody(t *testing.T, blocks []string) []byte {
	t.Helper()
	for _, block := range blocks {
		if strings.HasPrefix(block, "{\n  \"action_id\": \"refund-o-1001\"") {
			return []byte(block)
		}
	}
	t.Fatal("the page shows no declaration")
	return nil
}

func pageAction(t *testing.T, body []byte, contractID string, version int) *store.Action {
	t.Helper()
	var d verdict.Declaration
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	d.ContractID = contractID
	d.ReceivedAt = at(t, "2026-11-02T12:00:00.25Z")
	return &store.Action{
		Declared: store.Declared{
			Ref: "act_01kb3fz8s0q7m2x5v9c4e6t8wr", Revision: 1, Declaration: d, Body: body, By: "apikey:4fT9xK2b",
		},
		Version: version, Mode: verdict.Live, Revisions: 1,
	}
}

func pageVerdict(t *testing.T, a *store.Action) *verdict.Verdict {
	t.Helper()
	c := &verdict.Case{Engine: verdict.Engine, At: a.Declaration.ReceivedAt, Declarations: []verdict.Declaration{a.Declaration}}
	if a.Version > 0 {
		k, err := contract.Parse([]byte(pageContract))
		if err != nil {
			t.Fatal(err)
		}
		c.Governing = &verdict.Governing{Contract: k, Version: a.Version, Mode: a.Mode}
		c.Sources = []evidence.Source{{
			Name: "stripe", Trust: evidence.Independent,
			// Of the two types that the source tells, the contract looks for one.
			Watermarks: map[string]value.Instant{
				"refund.succeeded": at(t, "2026-11-02T11:55:00Z"),
				"refund.failed":    at(t, "2026-11-02T11:55:00Z"),
			},
		}}
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func TestAnAnswerLooksLikeThePageByteForByte(t *testing.T) {
	t.Parallel()
	blocks := jsonBlocks(t, "api-actions.md")
	body := pageBody(t, blocks)
	for name, one := range map[string]struct {
		contractID string
		version    int
		begins     string // of the block
		recorded   string
		warnings   string
	}{
		"a new action that a contract governs": {"refund_workflow", 3, `"contract_id": "refund_workflow"`, `1204`, `[]`},
		"a new action that none governs":       {"refund_workflw", 0, `"contract_id": "refund_workflw"`, `1205`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := blockWith(t, blocks, `"recorded": "new"`, `"allowance"`, one.begins, `"digest"`)
			a := pageAction(t, body, one.contractID, one.version)
			form, err := ActionOf(a)
			if err != nil {
				t.Fatal(err)
			}
			v, err := VerificationOf(pageVerdict(t, a), false)
			if err != nil {
				t.Fatal(err)
			}
			var shown answer // the parts that are not made here are taken from the page
			if err := json.Unmarshal([]byte(want), &struct {
				Allowance *jsontext.Value `json:"allowance"`
				Warnings  *jsontext.Value `json:"warnings"`
			}{&shown.Allowance, &shown.Warnings}); err != nil {
				t.Fatal(err)
			}
			shown.Recorded, shown.Action, shown.Verification, shown.Links = "new", form, v, pageSite.Action(a)
			if diff := cmp.Diff(want, indented(t, shown)); diff != "" {
				t.Errorf("the page (-) and what is answered (+) differ:\n%s", diff)
			}
		})
	}
}

func TestTheShortFormsLookLikeThePageByteForByte(t *testing.T) {
	t.Parallel()
	blocks := jsonBlocks(t, "api-actions.md")
	a := pageAction(t, pageBody(t, blocks), "refund_workflow", 3)
	v := pageVerdict(t, a)
	form, err := ActionOf(a)
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		block []string // texts that only this block has
		made  any
	}{
		"a result of a batch": {[]string{`"results"`}, struct {
			Recorded     string         `json:"recorded"`
			Action       ActionName     `json:"action"`
			Verification *Short         `json:"verification"`
			Warnings     jsontext.Value `json:"warnings"`
			Links        Links          `json:"links"`
		}{"new", NameOf(a), ShortOf(v, false), jsontext.Value("[]"), pageSite.Action(a)}},
		"an action in a list": {[]string{`"period"`, `"actions": [`}, struct {
			Action       *Action `json:"action"`
			Verification *Short  `json:"verification"`
			Links        Links   `json:"links"`
		}{form, ShortOf(v, false), pageSite.Action(a)}},
		"a pending action": {[]string{`"actions": [`, `"waits"`}, struct {
			Action       ActionBrief `json:"action"`
			Verification *Short      `json:"verification"`
			Links        Links       `json:"links"`
		}{BriefOf(a), WaitingOf(v, false), pageSite.Action(a)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			block := blockWith(t, blocks, one.block...)
			// The element stands two levels deep.
			want := strings.ReplaceAll(indented(t, one.made), "\n", "\n    ")
			if !strings.Contains(block, want) {
				t.Errorf("the page does not show what is answered:\n%s\nin\n%s", want, block)
			}
		})
	}
}

func TestTheRegistryIsShownAsOnThePage(t *testing.T) {
	t.Parallel()
	block := blockWith(t, jsonBlocks(t, "api.md"), `"codes": [`, `"explanation"`)
	for _, code := range ReasonCodes() {
		if code.Code == verdict.EffectSeen {
			if want := strings.ReplaceAll(indented(t, code), "\n", "\n    "); !jsonContains(t, block, want) {
				t.Errorf("the page does not show\n%s", want)
			}
		}
	}
}

// jsonContains compares without the layout, which the page is free to choose.
func jsonContains(t *testing.T, block, part string) bool {
	t.Helper()
	outer, inner := jsontext.Value(block), jsontext.Value(part)
	if err := outer.Compact(); err != nil {
		t.Fatal(err)
	}
	if err := inner.Compact(); err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(outer, inner)
}

var fence = regexp.MustCompile("(?s)```json\n(.*?)\n```")

// jsonBlocks are the JSON examples of a page.
func jsonBlocks(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, found := range fence.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, found[1])
	}
	return blocks
}

// blockWith is the first block in which all of the texts are.
func blockWith(t *testing.T, blocks []string, texts ...string) string {
	t.Helper()
	for _, block := range blocks {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(block, text)
		}
		if all {
			return block
		}
	}
	t.Fatalf("no block has all of %q", texts)
	return ""
}

func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func at(t *testing.T, text string) value.Instant {
	t.Helper()
	i, err := value.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
