package store

import (
	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// ContractVersion is a version of a contract. Its text is never changed.
type ContractVersion struct {
	ContractID string
	Version    int // from 1, without gaps
	Digest     string
	Text       string
	Note       string
	SavedAt    value.Instant
	SavedBy    access.Actor
	Saver      access.MemberID // empty where a key proposed it
	Approvers  []access.MemberID

	// Set by activation. It governs what is received from From on, until Until;
	// zero From: never activated; zero Until: still active.
	Mode        verdict.Mode
	From, Until value.Instant
	ActivatedBy access.Actor
}

// Contracts are the contracts of a workspace in all their versions.
type Contracts interface {
	// ContractVersions returns the versions of one contract, the first first, or of
	// all contracts by id and version if id is empty. Without text if it is not
	// asked for.
	ContractVersions(id string, text bool) ([]ContractVersion, error)
	// ContractVersion returns one version. Error: [ErrNotFound].
	ContractVersion(id string, version int) (*ContractVersion, error)
	// ActiveContracts returns the versions that are active at a time of these ids.
	ActiveContracts(ids []string, at value.Instant) (map[string]*ContractVersion, error)
	// AddContractVersion keeps a new version. Two units that add one version conflict.
	AddContractVersion(v *ContractVersion)
	// ApproveContract adds an approver to a version that is not active.
	ApproveContract(id string, version int, by access.MemberID)
	// ActivateContract makes a version govern from v.From on, which is now, and ends
	// the one that does then. Nothing that was received before is governed anew, and
	// no version is activated twice: who wants an old one back saves it again. Of two
	// units that activate versions of one contract the later one runs again.
	// Parameters that link and rolling limits that earlier versions did not have are
	// brought up with BackfillLinks, for what was declared within the reach of the
	// new version.
	ActivateContract(v *ContractVersion)
	// RetireContract ends the version that is active.
	RetireContract(id string, at value.Instant, by access.Actor)
	// BackfillLinks adds what [Actions.AddAction] would have added for actions that are
	// there, and asks for the same turn.
	BackfillLinks(ref Ref, limits []LimitEntry, linkParams map[string]string)
}
