package docket

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// LimitKey names a rolling limit by what it adds up and how it groups, so that all
// versions of a contract that add up alike share what was added up: another
// maximum, another span or another id is no other sum. It is empty for a limit on
// one declaration.
func LimitKey(k *contract.Contract, l *contract.Limit) string {
	if l.Rolling == nil {
		return ""
	}
	rule := value.AppendString(nil, k.ID)
	rule = value.AppendString(rule, l.Rolling.Per)
	var params []string
	if name, isParam := strings.CutPrefix(l.Rolling.Per, "params."); isParam {
		params = append(params, name)
	}
	if total := l.Rolling.Total; total != nil {
		rule = value.AppendString(rule, total.String())
		for _, ref := range total.Refs() {
			if ref.Root == condition.Params {
				params = append(params, ref.Name)
			}
		}
	}
	for i := range k.Params {
		if p := &k.Params[i]; slices.Contains(params, p.Name) && p.Currency != "" {
			params = append(params, p.Currency)
		}
	}
	// What a parameter means is a part of the sum: 18000 may be dollars or cents.
	for i := range k.Params {
		if p := &k.Params[i]; slices.Contains(params, p.Name) {
			rule = appendMeaning(rule, p)
		}
	}
	sum := sha256.Sum256(rule)
	return k.ID + "/" + hex.EncodeToString(sum[:16])
}

// appendMeaning writes what of a parameter's declaration decides how it is read.
func appendMeaning(b []byte, p *contract.Param) []byte {
	for _, text := range append([]string{p.Name, string(p.Type), p.Currency, string(p.Fixed)}, p.Values...) {
		b = value.AppendString(b, text)
	}
	if p.Minor {
		b = append(b, " minor"...)
	}
	b = append(b, '=')
	if written, err := p.Default.AppendJSON(b); err == nil {
		b = written
	}
	return b
}

// Entry is what an action adds to a rolling limit. Whoever keeps entries can answer
// [Declarations.History] without reading declarations.
type Entry struct {
	Key   string // of [LimitKey]
	Group string // of [Group]
	Start value.Instant
	// Amount is without a currency where the limit counts, and where the declaration
	// gives no readable amount.
	Amount money.Amount
	// Over is for how long after its start the entry counts, by the limit with the
	// longest span of those that share the key.
	Over time.Duration
	// Steady says that all of the versions have a limit of this key, with this span:
	// an action of any of them that is in the group has an entry that reaches as far.
	Steady bool
}

// Entries are what a first declaration adds to the rolling limits of versions of
// its contract, each key once. An action counts towards the limits of all of them,
// whichever governs it.
func Entries(versions []*contract.Contract, d *verdict.Declaration) []Entry {
	var entries []Entry
	for n, k := range versions {
		var action engine.Claimant
		bound := false
		var seen []string // keys of this version
		for i := range k.Limits {
			l := &k.Limits[i]
			if l.Rolling == nil {
				continue
			}
			key := LimitKey(k, l)
			seen = append(seen, key)
			if at := slices.IndexFunc(entries, func(e Entry) bool { return e.Key == key }); at >= 0 {
				e := &entries[at]
				e.Steady = e.Steady && e.Over == l.Rolling.Over
				e.Over = max(e.Over, l.Rolling.Over)
				continue
			}
			if !bound {
				action, bound = engine.NewClaimant(k, d), true
			}
			amount, _ := Amount(l, action)
			entries = append(entries, Entry{Key: key, Group: Group(l, action), Start: d.Start(), Amount: amount, Over: l.Rolling.Over, Steady: n == 0})
		}
		for i := range entries {
			entries[i].Steady = entries[i].Steady && slices.Contains(seen, entries[i].Key)
		}
	}
	return entries
}

// LinkParams are the texts of the declared parameters by which facts may link to
// an action, under any of the versions of its contract: what [ActionKey] asks for.
// Where versions read a parameter differently, the first one's reading is kept, so
// the one that governs comes first.
func LinkParams(versions []*contract.Contract, d *verdict.Declaration) map[string]string {
	var params map[string]string
	for _, k := range versions {
		var action engine.Claimant
		bound := false
		for _, rule := range linkRules(k) {
			if rule.By != contract.ByParam || params[rule.Param] != "" {
				continue
			}
			if !bound {
				action, bound = engine.NewClaimant(k, d), true
			}
			if text := action.Key(rule); text != "" {
				if params == nil {
					params = map[string]string{}
				}
				params[rule.Param] = text
			}
		}
	}
	return params
}

// linkRules are all rules by which facts may belong to an action of a contract.
func linkRules(k *contract.Contract) []contract.Link {
	rules := slices.Clone(k.Link)
	for i := range k.Approvals {
		rules = append(rules, k.Approvals[i].Link...)
	}
	return rules
}

// Reaching asks for the actions whose totals an action that starts at an entry's
// start changes, itself among them.
func (e *Entry) Reaching(most int) LaterQuery {
	return LaterQuery{Key: e.Key, Group: e.Group, From: e.Start, To: e.Start.Add(e.Over), Most: most}
}

// LinkNames are the declared parameters by which facts may link to an action of a
// contract, each once.
func LinkNames(k *contract.Contract) []string {
	var names []string
	for _, rule := range linkRules(k) {
		if rule.By == contract.ByParam && !slices.Contains(names, rule.Param) {
			names = append(names, rule.Param)
		}
	}
	return names
}
