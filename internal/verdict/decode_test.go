package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// sameCase compares contracts by their text and values by what they say.
var sameCase = cmp.Options{
	cmp.Comparer(func(a, b *contract.Contract) bool { return a.Text == b.Text && a.Digest == b.Digest && a.ID == b.ID }),
	cmp.Comparer(func(a, b value.Value) bool {
		x, errX := a.AppendJSON(nil)
		y, errY := b.AppendJSON(nil)
		return errX == nil && errY == nil && bytes.Equal(x, y) && a.Kind() == b.Kind()
	}),
	cmp.Comparer(func(a, b money.Amount) bool { return a.String() == b.String() }),
	cmpopts.IgnoreUnexported(Case{}, Declaration{}, Governing{}, History{}, Shared{}, Compensator{}, Target{}, Previous{}, PreviousCheck{}, evidence.Fact{}, evidence.Source{}),
}

func TestACaseReadAgainIsTheSameCase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*Case{"the refund": refundCase(t), "a full case": fullCase(t)} {
		again, err := DecodeCase(c.AppendJSON(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c, again, sameCase); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
}

func TestWhiteSpaceAndTheOrderOfMembersAreFree(t *testing.T) {
	t.Parallel()
	c := refundCase(t)
	var indented bytes.Buffer
	if err := json.Indent(&indented, c.AppendJSON(nil), "", "  "); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(indented.String(), `"at": "2026-11-05T12:30:00Z",`, "", 1)
	text = strings.Replace(text, "{", `{"at": "2026-11-05T14:30:00+02:00",`, 1)
	text = strings.Replace(text, `"engine": 1,`, "", 1)
	text = "\n" + strings.TrimSuffix(text, "}") + `, "engine": 1 }` + "\n"
	again, err := DecodeCase([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest() != c.Digest() {
		t.Errorf("read as another case:\n%s", again.AppendJSON(nil))
	}
}

func TestWhatIsNoCaseIsRefusedAndSaysWhereAndWhy(t *testing.T) {
	t.Parallel()
	const digest = `"digest":"sha256:`
	for name, test := range map[string]struct {
		old, new    string // replaced once in a full case
		where, says string
	}{
		"a member that nobody knows":         {`{"at":`, `{"extra":1,"at":`, "/extra", "no such member"},
		"a member of a fact nobody knows":    {`"external_id":"re_1"`, `"external_id":"re_1","External_id":""`, "/facts/1/External_id", "no such member"},
		"a member that stands there twice":   {`"engine":1`, `"engine":1,"engine":1`, "/engine", "twice"},
		"an attribute that is there twice":   {`"actor":"support-bot"`, `"actor":"a","actor":"b"`, "/facts/1/attrs/actor", "twice"},
		"text after the end":                 {`]}`, `]}]}`, "", "this is not JSON"},
		"a text that is not UTF-8":           {`"support-bot"`, "\"\xff\"", "/declarations/0/agent_id", "UTF-8"},
		"half of a surrogate pair":           {`"support-bot"`, `"\ud800"`, "/declarations/0/agent_id", "surrogate"},
		"no time":                            {`"at":"2026-11-05T12:30:00Z",`, ``, "/at", "missing"},
		"an empty time":                      {`"at":"2026-11-05T12:30:00Z"`, `"at":""`, "/at", "empty"},
		"a time without a zone":              {`"at":"2026-11-05T12:30:00Z"`, `"at":"2026-11-05T12:30:00"`, "/at", "zone"},
		"a number for a time":                {`"at":"2026-11-05T12:30:00Z"`, `"at":1`, "/at", "string"},
		"null for a list":                    {`"facts":[`, `"shared":null,"facts":[`, "/shared", "null"},
		"null for a text":                    {`"agent_id":"support-bot"`, `"agent_id":null`, "/declarations/0/agent_id", "null"},
		"no engine":                          {`"engine":1,`, ``, "/engine", "missing"},
		"engine 0":                           {`"engine":1,`, `"engine":0,`, "/engine", "0 is not between 1"},
		"an engine that is not written yet":  {`"engine":1,`, `"engine":2,"future":true,`, "/engine", "no such engine here"},
		"a fraction for an integer":          {`"revision":1`, `"revision":1.0`, "/facts/1/revision", "1.0"},
		"a revision below zero":              {`"revision":1`, `"revision":-1`, "/facts/1/revision", "-1 is not between 0"},
		"a revision that others cannot read": {`"revision":1`, `"revision":9007199254740992`, "/facts/1/revision", "2^53-1"},
		"a fact without its source":          {`"source":"stripe","subject_id"`, `"subject_id"`, "/facts/1/source", "missing"},
		"a fact without an id":               {`"external_id":"re_1"`, `"external_id":""`, "/facts/1/external_id", "empty"},
		"an unheard-of mode of a fact":       {`"external_id":"re_1"`, `"external_id":"re_1","mode":"rumour"`, "/facts/1/mode", "rumour"},
		"a value that is an object":          {`"actor":"support-bot"`, `"actor":{"name":"x"}`, "/facts/1/attrs/actor", "an object here is"},
		"an unheard-of trust":                {`"trust":"attested"`, `"trust":"full"`, "/sources/0/trust", "full"},
		"a source twice":                     {`"name":"zendesk"`, `"name":"stripe"`, "/sources/2/name", "element 1"},
		"an empty watermark":                 {`{"ticket.solved":"2026-11-05T12:00:00Z"}`, `{"a/b":""}`, "/sources/2/watermarks/a~1b", "empty"},
		"an amount without a currency":       {`"totals":[{"amount":"610.50","currency":"USD"}]`, `"totals":["610.50"]`, "/history/0/totals/0", "an amount is written"},
		"two totals in one currency":         {`"totals":[`, `"totals":[{"amount":"1","currency":"usd"},`, "/history/0/totals/1/currency", "element 0"},
		"a limit without its count":          {`"count":4,`, ``, "/history/0/count", "missing"},
		"a window that runs backwards":       {`"from":"2026-11-01T12:00:00Z"`, `"from":"2026-11-03T12:00:00Z"`, "/history/0/from", "before it begins"},
		"another contract's text":            {`max: 1, over: 30d`, `max: 2, over: 30d`, "/governing/digest", "sha256:"},
		"no digest":                          {digest, `"digest":"md5:`, "/governing/digest", "no digest"},
		"another contract's id":              {`"id":"refund_workflow"`, `"id":"other"`, "/governing/id", "other"},
		"a contract that nobody declared":    {`"contract_id":"refund_workflow",`, ``, "/governing/id", "declaration"},
		"version 0":                          {`"version":3`, `"version":0`, "/governing/version", "0 is not"},
		"a mode that contracts do not have":  {`"mode":"live"`, `"mode":"asleep"`, "/governing/mode", "asleep"},
		"no declaration":                     {`"declarations":[{`, `"declarations":[],"rivals":[{`, "/declarations", "at least one"},
		"two actions in one case":            {`"declarations":[{`, `"declarations":[{"action_id":"x","received_at":"2026-11-02T12:00:00Z"},{`, "/declarations/1/action_id", "one action"},
		"a rival that is the action itself":  {`{"at":`, `{"rivals":[{"action_id":"refund-o-1001","received_at":"2026-11-02T12:00:00Z"}],"at":`, "/rivals/0/action_id", "itself"},
		"a previous code that no one gave":   {`{"at":`, `{"previous":{"digest":"sha256:` + strings.Repeat("0", 64) + `","revision":1,"settled_at":"2026-11-02T12:00:00Z","outcome":"PASS","conformance":"PASS","checks":[{"id":"a","result":"PASS","codes":["FINE"]}]},"at":`, "/previous/checks/0/codes/0", "FINE"},
		"a lens that does not apply":         {`{"at":`, `{"previous":{"digest":"sha256:` + strings.Repeat("0", 64) + `","revision":1,"settled_at":"2026-11-02T12:00:00Z","outcome":"NOT_APPLICABLE","conformance":"PASS"},"at":`, "/previous/outcome", "NOT_APPLICABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := string(refundCase(t).AppendJSON(nil))
			text := strings.Replace(whole, test.old, test.new, 1)
			if test.new == `]}]}` {
				text = whole + "]}"
			}
			if text == whole {
				t.Fatalf("%s is not in\n%s", test.old, whole)
			}
			_, err := DecodeCase([]byte(text))
			var form *FormError
			if !errors.As(err, &form) {
				t.Fatalf("got %v", err)
			}
			if form.Pointer != test.where || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %q at %q, want %q at %q", form.Err, form.Pointer, test.says, test.where)
			}
		})
	}
}

func TestACaseOfALaterEngineSaysSo(t *testing.T) {
	t.Parallel()
	_, err := DecodeCase([]byte(`{"engine": 7, "whatever": 1}`))
	if !errors.Is(err, ErrEngineUnknown) {
		t.Errorf("got %v, want %v", err, ErrEngineUnknown)
	}
}

// A declaration may name any time from 1971 on, and its windows begin earlier.
func TestAWindowMayBeginBeforeAnyDeclarationCan(t *testing.T) {
	t.Parallel()
	c := refundCase(t)
	for _, from := range []value.Instant{0, -1, instant(t, "1971-01-01T00:00:00Z").Add(-5 * 366 * 24 * 3600e9)} {
		c.History[0].From = from
		again, err := DecodeCase(c.AppendJSON(nil))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := again.History[0].From; got != from {
			t.Errorf("%v is read as %v", from.Time(), got.Time())
		}
	}
}
