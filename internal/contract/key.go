package contract

import "slices"

// Kind is what a key takes.
type Kind string

// The kinds of what keys take.
const (
	TextKind       Kind = "text"
	IDKind         Kind = "id"          // a name of letters, digits, _ and -
	ContractIDKind Kind = "contract id" // likewise, and with dots
	FactTypeKind   Kind = "fact type"   // refund.succeeded
	ConditionKind  Kind = "condition"   // true or false
	ExpressionKind Kind = "expression"  // any value
	DurationKind   Kind = "duration"    // 48h
	IntegerKind    Kind = "integer"
	BooleanKind    Kind = "boolean"
	WordKind       Kind = "word" // one of Words
	MoneyKind      Kind = "money"
	CurrencyKind   Kind = "currency" // a code or a parameter
	RefKind        Kind = "ref"      // refs.NAME
	LinkKind       Kind = "link"
	ValueKind      Kind = "value"   // anything of the parameter's type
	MappingKind    Kind = "mapping" // keys of their own
	CountKind      Kind = "count"   // an integer or a mapping
	BoundKind      Kind = "bound"   // an integer or an amount
)

// Key describes a key of the contract language. The language reference, the
// editor's schema and the parser's list of known keys are this table.
type Key struct {
	// In is the mapping that it stands in: empty for the contract itself,
	// "steps" for each step, "params" for each parameter, "steps.sum".
	In       string
	Name     string
	Kind     Kind
	List     bool     // takes a list of its kind
	Single   bool     // of a list: one alone may stand without brackets
	Named    bool     // a mapping from names that the author chooses to mappings
	Words    []string // of WordKind
	Required bool
	Default  string // what is meant where the key is left out
	Sentence string
}

// Path is the key as a reader looks for it: steps.within.
func (k Key) Path() string {
	if k.In == "" {
		return k.Name
	}
	return k.In + "." + k.Name
}

// Keys lists every key of the language in the order of its documentation.
func Keys() []Key { return slices.Clone(keys[:]) }

var (
	trusts     = []string{"self_reported", "asserted", "attested", "independent"}
	paramTypes = []string{"money", "currency", "string", "integer", "decimal", "boolean", "timestamp", "enum", "list"}
)

// Sentences that stand for several kinds of checks.
const (
	sentenceWhen   = "The check applies only where this is true of the declaration; elsewhere it is not applicable, which is no pass."
	sentenceExpect = "The type of the facts that it looks at."
	sentenceFrom   = "The sources whose facts count. Any of them may supply; all of them are needed to show that something is absent."
	sentenceWhere  = "What must be true of a fact for it to count. An attribute that is missing leaves it unknown."
	sentenceTrust  = "The least trust of a source for this check; a weaker one supplies and covers nothing."
	onlySource     = "the contract's source, if it has just one"
	toSettlement   = "until the verdict settles"
)

var keys = [...]Key{
	{Name: "contract", Kind: ContractIDKind, Required: true, Sentence: "The contract's id, by which declarations name it."},
	{Name: "title", Kind: TextKind, Sentence: "What the contract is about, for people."},
	{Name: "owner", Kind: TextKind, Sentence: "Who answers for the contract."},
	{Name: "applies_to", Kind: MappingKind, Default: "any action", Sentence: "Which actions the contract is for."},
	{Name: "params", Kind: MappingKind, Named: true, Sentence: "The parameters of the action that the contract reads, by name."},
	{Name: "settle", Kind: MappingKind, Required: true, Sentence: "When a verdict is final."},
	{Name: "sources", Kind: MappingKind, Named: true, Required: true, Sentence: "The systems of record whose facts count, by name."},
	{Name: "link", Kind: LinkKind, List: true, Single: true, Default: "[refs.action_id == action_id, subject]", Sentence: "How a fact belongs to an action, the strongest rule first: `refs.NAME == action_id`, `== subject_id` or `== params.NAME`, and `subject`."},
	{Name: "steps", Kind: MappingKind, List: true, Required: true, Sentence: "What must be seen (outcome)."},
	{Name: "never", Kind: MappingKind, List: true, Sentence: "What must not be seen until the verdict settles (outcome)."},
	{Name: "state", Kind: MappingKind, List: true, Sentence: "How something must stand at a time (outcome)."},
	{Name: "limits", Kind: MappingKind, List: true, Sentence: "What was allowed (conformance)."},
	{Name: "approvals", Kind: MappingKind, List: true, Sentence: "Who must have said yes before it happened (conformance)."},
	{Name: "compensation", Kind: MappingKind, Sentence: "Which contract's actions undo this one's."},
	{Name: "evidence", Kind: MappingKind, Sentence: "How facts are told apart and weighed."},
	{Name: "verified_amount", Kind: MappingKind, Sentence: "Which amount was seen. It is stated for passed steps only."},
	{Name: "orphans", Kind: MappingKind, Default: "every effect that no action claims", Sentence: "Which unclaimed effects are reported."},
	{Name: "not_checked", Kind: TextKind, List: true, Sentence: "What the contract does not check, in plain words."},

	{In: "applies_to", Name: "action_type", Kind: TextKind, Default: "any", Sentence: "The type of the actions."},
	{In: "applies_to", Name: "subject_kind", Kind: TextKind, Default: "any", Sentence: "The kind of the actions' subject."},

	{In: "params", Name: "type", Kind: WordKind, Words: paramTypes, Required: true, Sentence: "The parameter's type."},
	{In: "params", Name: "currency", Kind: CurrencyKind, Sentence: "The currency of money: a code, or the parameter that names it. Without it the amount must name its currency itself."},
	{In: "params", Name: "unit", Kind: WordKind, Words: []string{"major", "minor"}, Default: "major", Sentence: "The unit of money: 180.00 dollars, or minor for 18000 cents."},
	{In: "params", Name: "values", Kind: TextKind, List: true, Sentence: "What an enum may be."},
	{In: "params", Name: "required", Kind: BooleanKind, Default: "false", Sentence: "A declaration without it fails conformance."},
	{In: "params", Name: "default", Kind: ValueKind, Sentence: "What is meant where the declaration leaves it out."},

	{In: "settle", Name: "after", Kind: DurationKind, Required: true, Sentence: "How long after its start an action settles."},
	{In: "settle", Name: "grace", Kind: DurationKind, Default: "12h", Sentence: "How much longer a source that is not complete is waited for."},
	{In: "settle", Name: "max_skew", Kind: DurationKind, Default: "2m", Sentence: "By how much clocks may differ."},

	{In: "sources", Name: "trust", Kind: WordKind, Words: trusts, Required: true, Sentence: "The least trust that the source must have; if it has less, it supplies and covers nothing."},

	{In: "steps", Name: "id", Kind: IDKind, Required: true, Sentence: "The check's name."},
	{In: "steps", Name: "expect", Kind: FactTypeKind, Required: true, Sentence: sentenceExpect},
	{In: "steps", Name: "from", Kind: IDKind, List: true, Single: true, Default: onlySource, Sentence: sentenceFrom},
	{In: "steps", Name: "where", Kind: ConditionKind, Sentence: sentenceWhere},
	{In: "steps", Name: "when", Kind: ConditionKind, Default: "always", Sentence: sentenceWhen},
	{In: "steps", Name: "trust", Kind: WordKind, Words: trusts, Default: "that of the source", Sentence: sentenceTrust},
	{In: "steps", Name: "count", Kind: CountKind, Default: "at least one", Sentence: "How many effects: a number means exactly that many, watched until the verdict settles."},
	{In: "steps", Name: "sum", Kind: MappingKind, Sentence: "What the effects must add up to."},
	{In: "steps", Name: "within", Kind: DurationKind, Default: toSettlement, Sentence: "How long after the action's start it may happen, both ends included."},
	{In: "steps", Name: "after", Kind: IDKind, Sentence: "The step that must come first."},
	{In: "steps", Name: "quorum", Kind: IntegerKind, Default: "1", Sentence: "How many different sources must confirm it."},
	{In: "steps.count", Name: "min", Kind: IntegerKind, Default: "1", Sentence: "The fewest effects."},
	{In: "steps.count", Name: "max", Kind: IntegerKind, Default: "without end", Sentence: "The most effects."},
	{In: "steps.sum", Name: "of", Kind: ExpressionKind, Required: true, Sentence: "What is added up, as in fact.amount."},
	{In: "steps.sum", Name: "exactly", Kind: ExpressionKind, Sentence: "What it must come to."},
	{In: "steps.sum", Name: "min", Kind: ExpressionKind, Sentence: "The least that it may come to."},
	{In: "steps.sum", Name: "max", Kind: ExpressionKind, Sentence: "The most that it may come to."},

	{In: "never", Name: "id", Kind: IDKind, Required: true, Sentence: "The check's name."},
	{In: "never", Name: "expect", Kind: FactTypeKind, Required: true, Sentence: sentenceExpect},
	{In: "never", Name: "from", Kind: IDKind, List: true, Single: true, Default: onlySource, Sentence: sentenceFrom},
	{In: "never", Name: "where", Kind: ConditionKind, Sentence: sentenceWhere},
	{In: "never", Name: "when", Kind: ConditionKind, Default: "always", Sentence: sentenceWhen},
	{In: "never", Name: "trust", Kind: WordKind, Words: trusts, Default: "that of the source", Sentence: sentenceTrust},
	{In: "never", Name: "anyone", Kind: BooleanKind, Default: "false", Sentence: "It counts whoever did it: a fact on the subject is enough, even without a key of the action."},

	{In: "state", Name: "id", Kind: IDKind, Required: true, Sentence: "The check's name."},
	{In: "state", Name: "expect", Kind: FactTypeKind, Required: true, Sentence: "The type of the snapshots that it looks at."},
	{In: "state", Name: "from", Kind: IDKind, List: true, Single: true, Default: onlySource, Sentence: sentenceFrom},
	{In: "state", Name: "where", Kind: ConditionKind, Required: true, Sentence: "What must be true of the latest snapshot."},
	{In: "state", Name: "when", Kind: ConditionKind, Default: "always", Sentence: sentenceWhen},
	{In: "state", Name: "trust", Kind: WordKind, Words: trusts, Default: "that of the source", Sentence: sentenceTrust},
	{In: "state", Name: "at", Kind: WordKind, Words: []string{"settle"}, Default: "settle", Sentence: "When it must stand so: when the verdict settles."},
	{In: "state", Name: "within", Kind: DurationKind, Default: toSettlement, Sentence: "When it must stand so: this long after the action's start."},

	{In: "limits", Name: "id", Kind: IDKind, Required: true, Sentence: "The check's name."},
	{In: "limits", Name: "when", Kind: ConditionKind, Default: "always", Sentence: sentenceWhen},
	{In: "limits", Name: "check", Kind: ConditionKind, Sentence: "What must be true of the declaration."},
	{In: "limits", Name: "total", Kind: ExpressionKind, Sentence: "Instead of check: the amount that is added up over several declarations."},
	{In: "limits", Name: "count", Kind: BooleanKind, Sentence: "Instead of check: true, to count declarations."},
	{In: "limits", Name: "max", Kind: BoundKind, Sentence: "The most that a total or a count may come to, this declaration included."},
	{In: "limits", Name: "over", Kind: DurationKind, Sentence: "The time that a total or a count looks back from the action's start."},
	{In: "limits", Name: "per", Kind: TextKind, Default: "all together", Sentence: "What divides the declarations: agent_id, subject_id, workflow_id or params.NAME. Those without it are one group."},

	{In: "approvals", Name: "id", Kind: IDKind, Required: true, Sentence: "The check's name."},
	{In: "approvals", Name: "when", Kind: ConditionKind, Default: "always", Sentence: sentenceWhen},
	{In: "approvals", Name: "expect", Kind: FactTypeKind, Required: true, Sentence: "The type of the facts that approve."},
	{In: "approvals", Name: "from", Kind: IDKind, List: true, Single: true, Default: onlySource, Sentence: "The sources whose approvals count; each must be attested or independent."},
	{In: "approvals", Name: "where", Kind: ConditionKind, Sentence: sentenceWhere},
	{In: "approvals", Name: "trust", Kind: WordKind, Words: trusts, Default: "that of the source", Sentence: sentenceTrust},
	{In: "approvals", Name: "link", Kind: LinkKind, List: true, Single: true, Default: "refs.action_id == action_id", Sentence: "How an approval belongs to an action."},
	{In: "approvals", Name: "lookback", Kind: DurationKind, Default: "7d", Sentence: "How long before the action's start it may have been given."},
	{In: "approvals", Name: "before", Kind: IDKind, Default: "the step, if the contract has just one", Sentence: "The step whose effect it must come before."},
	{In: "approvals", Name: "quorum", Kind: IntegerKind, Default: "1", Sentence: "How many different sources must have approved."},

	{In: "compensation", Name: "by", Kind: ContractIDKind, Required: true, Sentence: "The id of the contract whose actions may undo this one's."},
	{In: "compensation", Name: "net", Kind: WordKind, Words: []string{"zero"}, Sentence: "zero: say whether what was undone leaves nothing."},

	{In: "evidence", Name: "exclusive", Kind: BooleanKind, Default: "true", Sentence: "One fact backs one action only."},
	{In: "evidence", Name: "decides", Kind: IDKind, Default: "none", Sentence: "The source that wins where sources disagree, or none."},
	{In: "evidence", Name: "same_effect", Kind: RefKind, Sentence: "The key by which several facts tell of one effect, as in refs.refund."},
	{In: "evidence", Name: "late", Kind: WordKind, Words: []string{"revise"}, Default: "revise", Sentence: "What evidence does that comes after settlement: it makes a revision."},

	{In: "verified_amount", Name: "step", Kind: IDKind, Required: true, Sentence: "The step whose effects are counted."},
	{In: "verified_amount", Name: "of", Kind: ExpressionKind, Required: true, Sentence: "The amount of one effect, as in fact.amount."},

	{In: "orphans", Name: "where", Kind: ConditionKind, Required: true, Sentence: "What must be true of an unclaimed effect to be reported; it reads the fact alone."},
}
