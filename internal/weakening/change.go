package weakening

import (
	"slices"
)

// Direction says which way a change goes.
type Direction string

// The directions of changes.
const (
	Weaker    Direction = "weaker"    // something can pass that could not
	Unclear   Direction = "unclear"   // the structure cannot show that it is not weaker
	Stronger  Direction = "stronger"  // nothing can pass that could not
	Different Direction = "different" // it bears on no verdict of an action that both versions govern
)

// Change is one difference between two versions of a contract.
type Change struct {
	What      Kind      `json:"what"`
	Where     string    `json:"where"` // steps.money_moved.within
	Old       string    `json:"old"`   // as the contract writes it; empty where there was nothing
	New       string    `json:"new"`
	Direction Direction `json:"direction"`
	Sentence  string    `json:"sentence"` // what it means, without a full stop
}

// Suspect says that somebody should look before the change takes effect.
func (c Change) Suspect() bool { return c.Direction == Weaker || c.Direction == Unclear }

// Suspect says whether any of the changes is.
func Suspect(changes []Change) bool { return slices.ContainsFunc(changes, Change.Suspect) }

// Kind names what changed. Kinds are an interface: programs look for them.
type Kind string

// The kinds of changes.
const (
	ContractReplaced Kind = "contract_replaced"
	ContractBeside   Kind = "contract_beside"
	Described        Kind = "described"
	AppliesNarrower  Kind = "applies_narrower"
	AppliesWider     Kind = "applies_wider"

	ParamRequired   Kind = "param_required"
	ParamOptional   Kind = "param_optional"
	ParamAdded      Kind = "param_added"
	ParamRemoved    Kind = "param_removed"
	DefaultAdded    Kind = "default_added"
	DefaultRemoved  Kind = "default_removed"
	DefaultChanged  Kind = "default_changed"
	TypeLooser      Kind = "type_looser"
	TypeTighter     Kind = "type_tighter"
	TypeChanged     Kind = "type_changed"
	CurrencyChanged Kind = "currency_changed"
	UnitChanged     Kind = "unit_changed"

	SettleLater   Kind = "settle_later"
	SettleSooner  Kind = "settle_sooner"
	GraceLonger   Kind = "grace_longer"
	GraceShorter  Kind = "grace_shorter"
	SkewWider     Kind = "skew_wider"
	SkewNarrower  Kind = "skew_narrower"
	TrustLower    Kind = "trust_lower"
	TrustHigher   Kind = "trust_higher"
	SourceAdded   Kind = "source_added"
	SourceRemoved Kind = "source_removed"

	LinkDropped   Kind = "link_dropped"
	LinkAdded     Kind = "link_added"
	LinkReordered Kind = "link_reordered"

	CheckRemoved     Kind = "check_removed"
	CheckAdded       Kind = "check_added"
	GuardNarrower    Kind = "guard_narrower"
	GuardWider       Kind = "guard_wider"
	GuardChanged     Kind = "guard_changed"
	ExpectChanged    Kind = "expect_changed"
	SourcesMore      Kind = "sources_more"
	SourcesFewer     Kind = "sources_fewer"
	ConditionLooser  Kind = "condition_looser"
	ConditionTighter Kind = "condition_tighter"
	ConditionChanged Kind = "condition_changed"

	CountLooser    Kind = "count_looser"
	CountTighter   Kind = "count_tighter"
	SumDropped     Kind = "sum_dropped"
	SumAdded       Kind = "sum_added"
	SumLooser      Kind = "sum_looser"
	SumTighter     Kind = "sum_tighter"
	SumChanged     Kind = "sum_changed"
	WindowWider    Kind = "window_wider"
	WindowNarrower Kind = "window_narrower"
	MomentChanged  Kind = "moment_changed"
	OrderDropped   Kind = "order_dropped"
	OrderAdded     Kind = "order_added"
	OrderChanged   Kind = "order_changed"
	QuorumLower    Kind = "quorum_lower"
	QuorumHigher   Kind = "quorum_higher"
	AnyoneOff      Kind = "anyone_off"
	AnyoneOn       Kind = "anyone_on"

	CapHigher    Kind = "cap_higher"
	CapLower     Kind = "cap_lower"
	CapChanged   Kind = "cap_changed"
	LimitChanged Kind = "limit_changed"
	OverShorter  Kind = "over_shorter"
	OverLonger   Kind = "over_longer"
	PerChanged   Kind = "per_changed"

	LookbackWider    Kind = "lookback_wider"
	LookbackNarrower Kind = "lookback_narrower"

	CompensationChanged Kind = "compensation_changed"
	ExclusiveOff        Kind = "exclusive_off"
	ExclusiveOn         Kind = "exclusive_on"
	DecidesChanged      Kind = "decides_changed"
	SameEffectAdded     Kind = "same_effect_added"
	SameEffectDropped   Kind = "same_effect_dropped"
	SameEffectChanged   Kind = "same_effect_changed"
	AmountDropped       Kind = "amount_dropped"
	AmountAdded         Kind = "amount_added"
	AmountChanged       Kind = "amount_changed"
	OrphansNarrower     Kind = "orphans_narrower"
	OrphansWider        Kind = "orphans_wider"
	OrphansChanged      Kind = "orphans_changed"
)
