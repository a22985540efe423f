package sqlstore

import (
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// versionColumns are those that [versionRow] reads, of the tables v and s; %s is
// the text.
const (
	versionColumns = `v.contract_id, v.version, v.digest, %s, v.note, v.saved_at, v.saved_by, v.saver,
		COALESCE(s.mode, ''), COALESCE(s.from_at, 0), COALESCE(s.until_at, 0), COALESCE(s.activated_by, '')`
	versionTables = ` FROM contract_versions v
		LEFT JOIN contract_states s ON s.workspace_id = $1 AND s.contract_id = v.contract_id AND s.version = v.version
		WHERE v.workspace_id = $1`
)

var (
	allVersions     = tenant("all_versions", `SELECT `+fmt.Sprintf(versionColumns, "v.text")+versionTables+` ORDER BY v.contract_id, v.version`)
	allVersionsBare = tenant("all_versions_bare", `SELECT `+fmt.Sprintf(versionColumns, "''")+versionTables+` ORDER BY v.contract_id, v.version`)
	versionsOf      = tenant("versions_of", `SELECT `+fmt.Sprintf(versionColumns, "v.text")+versionTables+` AND v.contract_id = $2 ORDER BY v.version`)
	versionsOfBare  = tenant("versions_of_bare", `SELECT `+fmt.Sprintf(versionColumns, "''")+versionTables+` AND v.contract_id = $2 ORDER BY v.version`)
	oneVersion      = tenant("one_version", `SELECT `+fmt.Sprintf(versionColumns, "v.text")+versionTables+` AND v.contract_id = $2 AND v.version = $3`)
	activeVersions  = tenant("active_versions", `SELECT `+fmt.Sprintf(versionColumns, "v.text")+`
		FROM contract_states s JOIN contract_versions v ON v.workspace_id = $1 AND v.contract_id = s.contract_id AND v.version = s.version
		WHERE s.workspace_id = $1 AND s.contract_id {in $2 text} AND s.from_at <= $3 AND (s.until_at = 0 OR s.until_at > $3)`)
	allApprovals = tenant("all_approvals", `
		SELECT contract_id, version, person_id FROM contract_approvals WHERE workspace_id = $1 ORDER BY contract_id, version, person_id`)
	approvalsOf = tenant("approvals_of", `
		SELECT contract_id, version, person_id FROM contract_approvals WHERE workspace_id = $1 AND contract_id {in $2 text}
		ORDER BY contract_id, version, person_id`)

	addVersion = tenant("add_version", `
		INSERT INTO contract_versions (workspace_id, contract_id, version, digest, text, note, saved_at, saved_by, saver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`)
	addVersionType = tenant("add_version_type", `
		INSERT INTO contract_types (workspace_id, fact_type, contract_id, version) {rows text text bigint}`)
	approveVersion = tenant("approve_version", `
		INSERT INTO contract_approvals (workspace_id, contract_id, version, person_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
	endVersion   = tenant("end_version", `UPDATE contract_states SET until_at = $3 WHERE workspace_id = $1 AND contract_id = $2 AND until_at = 0`)
	beginVersion = tenant("begin_version", `
		INSERT INTO contract_states (workspace_id, contract_id, version, mode, from_at, until_at, activated_by)
		VALUES ($1, $2, $3, $4, $5, 0, $6)`)
)

func versionRow(r Row) store.ContractVersion {
	v := store.ContractVersion{ContractID: r.Text(), Version: int(r.Int()), Digest: r.Text(), Text: r.Text(), Note: r.Text(), SavedAt: value.Instant(r.Int())}
	v.SavedBy, v.Saver = access.Actor(r.Text()), access.MemberID(r.Text())
	v.Mode, v.From, v.Until, v.ActivatedBy = verdict.Mode(r.Text()), value.Instant(r.Int()), value.Instant(r.Int()), access.Actor(r.Text())
	return v
}

// versions reads versions and who approved them.
func (u *unit) versions(q, approvals *query) ([]store.ContractVersion, error) {
	var all []store.ContractVersion
	q.row = func(r Row) error {
		all = append(all, versionRow(r))
		return nil
	}
	approvals.row = func(r Row) error {
		id, version, by := r.Text(), int(r.Int()), access.MemberID(r.Text())
		i := slices.IndexFunc(all, func(v store.ContractVersion) bool { return v.ContractID == id && v.Version == version })
		if i >= 0 {
			all[i].Approvers = append(all[i].Approvers, by)
		}
		return nil
	}
	if err := u.ask(q, approvals); err != nil {
		return nil, fmt.Errorf("read versions of contracts: %w", err)
	}
	return all, nil
}

// ContractVersions implements [store.Contracts].
func (u *unit) ContractVersions(id string, text bool) ([]store.ContractVersion, error) {
	switch {
	case id == "" && text:
		return u.versions(&query{statement: allVersions}, &query{statement: allApprovals})
	case id == "":
		return u.versions(&query{statement: allVersionsBare}, &query{statement: allApprovals})
	case text:
		return u.versions(&query{statement: versionsOf, args: []any{id}}, approvalsQuery(id))
	}
	return u.versions(&query{statement: versionsOfBare, args: []any{id}}, approvalsQuery(id))
}

func approvalsQuery(ids ...string) *query {
	return &query{statement: approvalsOf, args: []any{ids}}
}

// ContractVersion implements [store.Contracts].
func (u *unit) ContractVersion(id string, version int) (*store.ContractVersion, error) {
	found, err := u.versions(&query{statement: oneVersion, args: []any{id, version}}, approvalsQuery(id))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.ErrNotFound
	}
	return &found[0], nil
}

// ActiveContracts implements [store.Contracts].
func (u *unit) ActiveContracts(ids []string, at value.Instant) (map[string]*store.ContractVersion, error) {
	found, err := u.versions(&query{statement: activeVersions, args: []any{ids, at}}, approvalsQuery(ids...))
	if err != nil {
		return nil, err
	}
	active := map[string]*store.ContractVersion{}
	for i := range found {
		active[found[i].ContractID] = &found[i]
	}
	return active, nil
}

// AddContractVersion implements [store.Contracts]. The types that a version looks
// for are kept with it; they count once it is activated.
func (u *unit) AddContractVersion(v *store.ContractVersion) {
	k, err := contract.Parse([]byte(v.Text))
	if err != nil {
		u.fail(fmt.Errorf("keep version %d of contract %s: %w", v.Version, v.ContractID, err))
		return
	}
	u.queue(addVersion, v.ContractID, v.Version, v.Digest, v.Text, v.Note, v.SavedAt, v.SavedBy, v.Saver)
	for _, factType := range expectedTypes(k) {
		u.queueRows(addVersionType, []any{key(factType), v.ContractID, v.Version})
	}
}

// ApproveContract implements [store.Contracts].
func (u *unit) ApproveContract(id string, version int, by access.MemberID) {
	u.queue(approveVersion, id, version, by)
}

// ActivateContract implements [store.Contracts].
func (u *unit) ActivateContract(v *store.ContractVersion) {
	u.queue(endVersion, v.ContractID, v.From)
	u.queue(beginVersion, v.ContractID, v.Version, v.Mode, v.From, v.ActivatedBy)
}

// RetireContract implements [store.Contracts]. By whom is in the audit.
func (u *unit) RetireContract(id string, at value.Instant, _ access.Actor) {
	u.queue(endVersion, id, at)
}
