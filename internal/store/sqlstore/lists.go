package sqlstore

import (
	"fmt"
	"math"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// Parameters of all lists of actions, in the order of [filterArgs]: $2 and $3 are
// the time of the start, $4 and $5 where the list goes on, $6 how many, the rest
// the filter.
const (
	listed = `SELECT ` + actionColumns + `, s.start_at, s.settles_at, v.form FROM `

	// filtered are the conditions that an index need not serve.
	filtered = ` AND ($7 = '' OR a.action_id = $7) AND ($8 = '' OR a.contract_id = $8) AND ($9 = '' OR a.action_type = $9)
		AND ($10 = '' OR a.workflow_id = $10) AND ($11 = '' OR a.agent_id = $11)
		AND ($12 = '' OR a.subject_id = $12) AND ($13 = '' OR a.subject_kind = $13)
		AND ($14 = '' OR s.badge = $14) AND ($15 = '' OR s.outcome = $15) AND ($16 = '' OR s.conformance = $16)
		AND ($17 = '' OR s.status = $17)
		AND ($18 OR a.contract_id {in $19 text}) AND ($20 OR a.action_type {in $21 text}) AND ($22 OR a.agent_id {in $23 text})`

	// Lists come from the table whose index has what narrows them most.
	fromActions = listed + `actions a` + ofActions
	ofActions   = ` {join standings s: s.workspace_id = $1 AND s.ref = a.ref}
		{join verdicts v: v.workspace_id = $1 AND v.ref = a.ref}
		WHERE a.workspace_id = $1 AND a.start_at >= $2 AND a.start_at < $3 AND a.start_at <= $4 AND (a.start_at < $4 OR a.ref < $5)` + filtered
	fromStandings = listed + `standings s {join actions a: a.workspace_id = $1 AND a.ref = s.ref}
		{join verdicts v: v.workspace_id = $1 AND v.ref = s.ref}
		WHERE s.workspace_id = $1 AND s.start_at >= $2 AND s.start_at < $3 AND s.start_at <= $4 AND (s.start_at < $4 OR s.ref < $5)` + filtered

	newestActions   = ` ORDER BY a.start_at DESC, a.ref DESC LIMIT $6`
	newestStandings = ` ORDER BY s.start_at DESC, s.ref DESC LIMIT $6`
)

var (
	listAll             = tenant("list_actions", fromActions+newestActions)
	listByID            = tenant("list_actions_by_id", fromActions+` AND a.action_id = $7`+newestActions)
	listBySubject       = tenant("list_actions_by_subject", fromActions+` AND a.subject_id = $12 AND a.subject_id <> ''`+newestActions)
	listByWorkflow      = tenant("list_actions_by_workflow", fromActions+` AND a.workflow_id = $10 AND a.workflow_id <> ''`+newestActions)
	listByAgent         = tenant("list_actions_by_agent", fromActions+` AND a.agent_id = $11 AND a.agent_id <> ''`+newestActions)
	listByContract      = tenant("list_actions_by_contract", listed+`actions a {by actions_by_contract}`+ofActions+` AND a.contract_id = $8`+newestActions)
	listByBadge         = tenant("list_actions_by_badge", fromStandings+` AND s.badge = $14`+newestStandings)
	listByContractBadge = tenant("list_actions_by_contract_badge", fromStandings+` AND s.contract_id = $8 AND s.badge = $14`+newestStandings)
	listByStatus        = tenant("list_actions_by_status", fromStandings+` AND s.status = $17`+newestStandings)
	listPending         = tenant("list_pending", listed+`standings s {join actions a: a.workspace_id = $1 AND a.ref = s.ref}
		{join verdicts v: v.workspace_id = $1 AND v.ref = s.ref}
		WHERE s.workspace_id = $1 AND s.status = 'provisional' AND s.start_at >= $2 AND s.start_at < $3
		AND s.settles_at >= $4 AND (s.settles_at > $4 OR s.ref > $5)`+filtered+` ORDER BY s.settles_at, s.ref LIMIT $6`)
)

// Counting reads the period from the index of each badge, and nothing else unless it is
// narrowed to what only actions say.
const (
	// The contract is made into something that no index has, lest SQLite takes an
	// index for the groups and walks through all times.
	counted  = `SELECT s.contract_id || '', s.badge, s.outcome, s.conformance, s.status, COUNT(*) FROM standings s`
	grouped  = ` GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`
	someOf   = ` {join actions a: a.workspace_id = $1 AND a.ref = s.ref}`
	counting = ` WHERE s.workspace_id = $1 AND s.badge IN ('PASS', 'FAIL', 'UNKNOWN') AND s.start_at >= $2 AND s.start_at < $3`
)

var (
	countAll      = tenant("count_actions", counted+counting+grouped)
	countSome     = tenant("count_some_actions", counted+someOf+counting+` AND $4 = 0 AND $5 = '' AND $6 = 0`+filtered+grouped)
	countContract = tenant("count_actions_of_contract", counted+counting+` AND s.contract_id = $4`+grouped)
	countBoth     = tenant("count_some_actions_of_contract", counted+someOf+counting+` AND s.contract_id = $8 AND $4 = 0 AND $5 = '' AND $6 = 0`+filtered+grouped)
)

// ListActions implements [store.Actions].
func (u *unit) ListActions(f store.Filter, p store.Page) ([]store.Listed, store.Cursor, error) {
	return u.list("actions", listFor(f), f, p, place{number: math.MaxInt64}, func(start, _ int64) int64 { return start })
}

// ListPending implements [store.Actions].
func (u *unit) ListPending(f store.Filter, p store.Page) ([]store.Listed, store.Cursor, error) {
	return u.list("pending actions", listPending, f, p, place{number: math.MinInt64}, func(_, settles int64) int64 { return settles })
}

// listFor picks the statement whose index narrows a list most. What failed is
// rare, or, where it is not, found soon.
func listFor(f store.Filter) *statement {
	_, badge := badgeOf(f)
	switch {
	case f.ActionID != "":
		return listByID
	case f.SubjectID != "":
		return listBySubject
	case f.Status == verdict.Revised:
		return listByStatus
	case badge == verdict.Fail && f.ContractID != "":
		return listByContractBadge
	case badge == verdict.Fail:
		return listByBadge
	case f.WorkflowID != "":
		return listByWorkflow
	case f.AgentID != "":
		return listByAgent
	case badge != "" && f.ContractID != "":
		return listByContractBadge
	case badge != "":
		return listByBadge
	case f.Status != "":
		return listByStatus
	case f.ContractID != "":
		return listByContract
	}
	return listAll
}

// badgeOf is the lens that a filter is about, empty for the badge, and the badge
// that follows from it: what failed in one lens has failed.
func badgeOf(f store.Filter) (lens string, badge verdict.Result) {
	switch {
	case f.Verdict == "" || f.Lens == "":
		return "", f.Verdict
	case f.Verdict == verdict.Fail:
		return f.Lens, verdict.Fail
	}
	return f.Lens, ""
}

func (u *unit) list(name string, s *statement, f store.Filter, p store.Page, start place, number func(start, settles int64) int64) ([]store.Listed, store.Cursor, error) {
	from, there, err := readCursor(name, f, p.After)
	if err != nil {
		return nil, "", err
	}
	if !there {
		from = start
	}
	var all []store.Listed
	var last place
	err = u.ask(&query{statement: s, args: filterArgs(f, from, p.Limit+1), row: func(r Row) error {
		a, err := actionRow(r)
		if err != nil {
			return err
		}
		n := number(r.Int(), r.Int())
		v, err := readVerdict(r.Bytes())
		if len(all) < p.Limit {
			last = place{number: n, text: string(a.Ref)}
		}
		all = append(all, store.Listed{Action: *a, Verdict: *v})
		return err
	}})
	if err != nil {
		return nil, "", fmt.Errorf("list %s: %w", name, err)
	}
	if len(all) <= p.Limit {
		return all, "", nil
	}
	return all[:p.Limit], cursor(name, f, last), nil
}

// filterArgs are $2 and after.
func filterArgs(f store.Filter, from place, limit int) []any {
	to := f.To
	if to == 0 {
		to = math.MaxInt64
	}
	lens, badge := badgeOf(f)
	var outcome, conformance verdict.Result
	switch lens {
	case verdict.OutcomeLens:
		outcome = f.Verdict
	case verdict.ConformanceLens:
		conformance = f.Verdict
	}
	l := &f.Limits
	return []any{
		f.From, to, from.number, from.text, limit,
		key(f.ActionID), key(f.ContractID), key(f.ActionType), key(f.WorkflowID), key(f.AgentID), key(f.SubjectID), key(f.SubjectKind),
		badge, outcome, conformance, f.Status,
		len(l.Contracts) == 0, keys(l.Contracts), len(l.ActionTypes) == 0, keys(l.ActionTypes), len(l.Agents) == 0, keys(l.Agents),
	}
}

// Summary implements [store.Actions].
func (u *unit) Summary(f store.Filter) ([]store.ContractCount, error) {
	q := &query{statement: countSome, args: filterArgs(f, place{}, 0)}
	alone := func(only store.Filter) bool { return fmt.Sprint(filterArgs(only, place{}, 0)) == fmt.Sprint(q.args) }
	switch {
	case alone(store.Filter{From: f.From, To: f.To}):
		q.statement, q.args = countAll, q.args[:2]
	case alone(store.Filter{From: f.From, To: f.To, ContractID: f.ContractID}):
		q.statement, q.args = countContract, []any{q.args[0], q.args[1], key(f.ContractID)}
	case f.ContractID != "":
		q.statement = countBoth
	}
	var counts []store.ContractCount
	q.row = func(r Row) error {
		counts = append(counts, store.ContractCount{
			ContractID: r.Text(), Badge: verdict.Result(r.Text()), Outcome: verdict.Result(r.Text()),
			Conformance: verdict.Result(r.Text()), Status: verdict.Status(r.Text()), Count: r.Int(),
		})
		return nil
	}
	if err := u.ask(q); err != nil {
		return nil, fmt.Errorf("count actions: %w", err)
	}
	return counts, nil
}
