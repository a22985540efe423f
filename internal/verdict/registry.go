package verdict

// The codes.
const (
	AllChecksMet      Code = "ALL_CHECKS_MET"
	EffectSeen        Code = "EFFECT_SEEN"
	AbsentAndCovered  Code = "ABSENT_AND_COVERED"
	StateAsExpected   Code = "STATE_AS_EXPECTED"
	WithinLimit       Code = "WITHIN_LIMIT"
	ApprovedBefore    Code = "APPROVED_BEFORE"
	DeclaredInTime    Code = "DECLARED_IN_TIME"
	DeclarationValid  Code = "DECLARATION_VALID"
	GuardNotMet       Code = "GUARD_NOT_MET"
	NoEffectToApprove Code = "NO_EFFECT_TO_APPROVE"

	AwaitingEvidence         Code = "AWAITING_EVIDENCE"
	SourceNotCovered         Code = "SOURCE_NOT_COVERED"
	TrustTooLow              Code = "TRUST_TOO_LOW"
	ValueMissing             Code = "VALUE_MISSING"
	ValueNotComparable       Code = "VALUE_NOT_COMPARABLE"
	CurrencyDiffers          Code = "CURRENCY_DIFFERS"
	AmbiguousMatch           Code = "AMBIGUOUS_MATCH"
	SourcesDisagree          Code = "SOURCES_DISAGREE"
	SourceContradictsItself  Code = "SOURCE_CONTRADICTS_ITSELF"
	OrderNotEstablished      Code = "ORDER_NOT_ESTABLISHED"
	NotAttributableViolation Code = "NOT_ATTRIBUTABLE_VIOLATION"
	StateNotSeen             Code = "STATE_NOT_SEEN"
	HistoryNotCovered        Code = "HISTORY_NOT_COVERED"
	DeclaredLate             Code = "DECLARED_LATE"
	NothingApplied           Code = "NOTHING_APPLIED"
	ContractNotFound         Code = "CONTRACT_NOT_FOUND"
	ContractDoesNotApply     Code = "CONTRACT_DOES_NOT_APPLY"

	EffectMissing           Code = "EFFECT_MISSING"
	EffectNotAttributable   Code = "EFFECT_NOT_ATTRIBUTABLE"
	LateEffect              Code = "LATE_EFFECT"
	EffectBeforeDeclaration Code = "EFFECT_BEFORE_DECLARATION"
	ValueMismatch           Code = "VALUE_MISMATCH"
	PartialEffect           Code = "PARTIAL_EFFECT"
	SubjectMismatch         Code = "SUBJECT_MISMATCH"
	DuplicateEffect         Code = "DUPLICATE_EFFECT"
	OutOfOrder              Code = "OUT_OF_ORDER"
	QuorumNotReached        Code = "QUORUM_NOT_REACHED"
	EffectReversed          Code = "EFFECT_REVERSED"
	StateMismatch           Code = "STATE_MISMATCH"
	LimitExceeded           Code = "LIMIT_EXCEEDED"
	ApprovalMissing         Code = "APPROVAL_MISSING"
	ApprovalTooLate         Code = "APPROVAL_TOO_LATE"
	RequiredParamMissing    Code = "REQUIRED_PARAM_MISSING"

	DeclarationChanged     Code = "DECLARATION_CHANGED"
	ContractVersionIgnored Code = "CONTRACT_VERSION_IGNORED"
	ClockSkew              Code = "CLOCK_SKEW"
	EvidenceShared         Code = "EVIDENCE_SHARED"
	WeakLink               Code = "WEAK_LINK"
	Compensated            Code = "COMPENSATED"
	CompensationRefused    Code = "COMPENSATION_REFUSED"
	LateEvidence           Code = "LATE_EVIDENCE"
	LateCoverage           Code = "LATE_COVERAGE"
	LateDeclaration        Code = "LATE_DECLARATION"
	FactRetracted          Code = "FACT_RETRACTED"
	AfterSettlement        Code = "AFTER_SETTLEMENT"
)

// Where a code belongs that is not of one lens.
const (
	bothLenses = "both"
	noteOnly   = "note"
)

var registry = [...]Entry{
	{
		Code: AllChecksMet, Label: "all checks met",
		Explanation: "Every check of the lens that applied passed.",
		Results:     []Result{Pass}, Lens: bothLenses, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: EffectSeen, Label: "the effect was seen",
		Explanation: "As many effects as the contract asks for were seen in their window, with the declared values.",
		Results:     []Result{Pass}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: AbsentAndCovered, Label: "not seen, and it would have been",
		Explanation: "Nothing of the kind was seen, and every source that could tell of it is complete to the end of the window.",
		Results:     []Result{Pass}, Lens: OutcomeLens, Kinds: []Kind{NeverCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: StateAsExpected, Label: "stands as expected",
		Explanation: "The latest snapshot at the end of the window fulfils the condition.",
		Results:     []Result{Pass}, Lens: OutcomeLens, Kinds: []Kind{StateCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: WithinLimit, Label: "within the limit",
		Explanation: "The declaration, together with those it adds up with, stays within the limit.",
		Results:     []Result{Pass}, Lens: ConformanceLens, Kinds: []Kind{LimitCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: ApprovedBefore, Label: "approved before it happened",
		Explanation: "An approval that counts was given before the effect.",
		Results:     []Result{Pass}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: DeclaredInTime, Label: "declared before it happened",
		Explanation: "The declaration was received within the allowed clock difference of its request, or later proof shows that it came before the effect.",
		Results:     []Result{Pass}, Lens: ConformanceLens, Kinds: []Kind{DeclarationCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: DeclarationValid, Label: "the declaration is complete",
		Explanation: "Every required parameter is there and of its type.",
		Results:     []Result{Pass}, Lens: ConformanceLens, Kinds: []Kind{DeclarationCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: GuardNotMet, Label: "does not apply here",
		Explanation: "The check's `when` is false for this action. It counts neither for nor against it.",
		Results:     []Result{NotApplicable}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: NoEffectToApprove, Label: "nothing happened that needed approval",
		Explanation: "The effect that the approval must precede is absent, and its sources are complete.",
		Results:     []Result{NotApplicable}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Nobody,
		Next: "Nothing; the outcome lens says that the effect is missing.",
	},
	{
		Code: AwaitingEvidence, Label: "waiting for evidence",
		Explanation: "What was seen so far decides nothing yet, and what is missing may still come.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck, DeclarationCheck}, Side: Nobody,
		Next: "Wait; `waits` says for which source, fact type and time.",
	},
	{
		Code: SourceNotCovered, Label: "a source is not complete",
		Explanation: "The time to wait is over and a source that could tell is not complete to the end of the window, so that what it does not show proves nothing.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck, DeclarationCheck}, Side: Operator,
		Next: "Look at the source's health and let it read up to the time in `waits`; the verdict is then revised.",
	},
	{
		Code: TrustTooLow, Label: "the source is not trusted enough",
		Explanation: "Facts are there, from a source whose trust is below what the contract asks. They neither supply nor cover anything.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck}, Side: Operator,
		Next: "Connect the source with a credential that the agent does not have, or name another source in the contract.",
	},
	{
		Code: ValueMissing, Label: "a value is not there",
		Explanation: "A condition needs a parameter or an attribute of a fact that is not there. What is missing is neither true nor false.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: System,
		Next: "See `about` for its name; declare the parameter, or let the connector fill the attribute.",
	},
	{
		Code: ValueNotComparable, Label: "two values cannot be compared",
		Explanation: "A condition compares values of different kinds, such as a text with a number.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Author,
		Next: "Give the parameter its type in the contract, or let the connector type the attribute.",
	},
	{
		Code: CurrencyDiffers, Label: "another currency",
		Explanation: "Two amounts are in different currencies. They are never equal, ordered or added up; an effect in another currency is a wrong effect.",
		Results:     []Result{Fail, Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Agent,
		Next: "Compare the declared currency with the effect's; if both are right, give the contract a limit per currency.",
	},
	{
		Code: AmbiguousMatch, Label: "several actions could claim it",
		Explanation: "One fact backs one action, and more than one assignment of facts to actions is possible with different results.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: Agent,
		Next: "Pass a correlation key, such as the action's id as idempotency key, so that each effect names its action.",
	},
	{
		Code: SourcesDisagree, Label: "sources disagree",
		Explanation: "Two sources tell the same effect differently, and the contract does not say which decides.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, StateCheck, ApprovalCheck}, Side: System,
		Next: "Find out which source is right; name it in `evidence: decides` if it always is.",
	},
	{
		Code: SourceContradictsItself, Label: "a source contradicts itself",
		Explanation: "A source gives two contents for one fact without saying which is newer, or tells one effect in two ways.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck}, Side: Operator,
		Next: "Let the connector number its revisions, or read the source again.",
	},
	{
		Code: OrderNotEstablished, Label: "the order is not known",
		Explanation: "One of the two things whose order matters was not seen, or both carry the same time.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: System,
		Next: "See whether the other check was met; a source with a finer resolution settles equal times.",
	},
	{
		Code: NotAttributableViolation, Label: "forbidden, but perhaps not by this action",
		Explanation: "Something that must not follow was seen on the subject, and nothing ties it to this action.",
		Results:     []Result{Unknown}, Lens: OutcomeLens, Kinds: []Kind{NeverCheck}, Side: Author,
		Next: "Say `anyone: true` if it must not happen whoever does it, or pass a correlation key.",
	},
	{
		Code: StateNotSeen, Label: "no snapshot",
		Explanation: "No snapshot of the state was seen up to the end of the window, although the source is complete.",
		Results:     []Result{Unknown}, Lens: OutcomeLens, Kinds: []Kind{StateCheck}, Side: Operator,
		Next: "See whether the connector reads snapshots of this kind of subject.",
	},
	{
		Code: HistoryNotCovered, Label: "the history is not complete",
		Explanation: "Not all declarations within the rolling limit's window are known.",
		Results:     []Result{Unknown}, Lens: ConformanceLens, Kinds: []Kind{LimitCheck}, Side: Operator,
		Next: "Wait until earlier declarations have arrived, such as those still in a recorder's outbox.",
	},
	{
		Code: DeclaredLate, Label: "declared late",
		Explanation: "The declaration was received later after its request than clocks may differ, and nothing proves that it came before the effect.",
		Results:     []Result{Unknown}, Lens: ConformanceLens, Kinds: []Kind{DeclarationCheck}, Side: Agent,
		Next: "Send declarations before acting, or with a journal proof that a witness has signed.",
	},
	{
		Code: NothingApplied, Label: "no check applied",
		Explanation: "No check of the lens applied to this action, which proves nothing.",
		Results:     []Result{Unknown}, Lens: bothLenses, Side: Author,
		Next: "Look at the guards of the contract's checks.",
	},
	{
		Code: ContractNotFound, Label: "no such contract",
		Explanation: "No version of the named contract was active when the action was declared.",
		Results:     []Result{Unknown}, Lens: bothLenses, Side: Author,
		Next: "Activate the contract, or correct the contract id that the agent declares. This action stays without one.",
	},
	{
		Code: ContractDoesNotApply, Label: "the contract is for other actions",
		Explanation: "The action's type or its kind of subject is not one that the contract applies to.",
		Results:     []Result{Unknown}, Lens: bothLenses, Side: Agent,
		Next: "Correct the declared action type or subject kind, or the contract's `applies_to`.",
	},
	{
		Code: EffectMissing, Label: "it did not happen",
		Explanation: "The window is over, every source that could tell is complete, and too few effects are there.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Look at what the tool did: its answer was a claim. Repeat the action if it is still wanted.",
	},
	{
		Code: EffectNotAttributable, Label: "somebody else did it",
		Explanation: "An effect of the kind is on the subject, but names another actor or another action.",
		Results:     []Result{Fail, Unknown}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Pass the correlation key; if a person did it, the agent's own effect is still missing.",
	},
	{
		Code: LateEffect, Label: "it came too late",
		Explanation: "The effect happened after the end of its window.",
		Results:     []Result{Fail, Unknown}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Find out what held it up, or widen `within` if that is no breach.",
	},
	{
		Code: EffectBeforeDeclaration, Label: "it happened before it was declared",
		Explanation: "An effect with this action's key happened before the action was requested and before it was declared.",
		Results:     []Result{Fail, Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, DeclarationCheck}, Side: Agent,
		Next: "Declare before acting. If clocks are wrong, correct them; `max_skew` allows a difference.",
	},
	{
		Code: ValueMismatch, Label: "other than declared",
		Explanation: "The effect is there with another value than the contract's condition asks for.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Compare the declared parameters with the fact in `seen`.",
	},
	{
		Code: PartialEffect, Label: "only a part happened",
		Explanation: "What was seen adds up to less than was declared.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "See what is still missing, and repeat or correct that part.",
	},
	{
		Code: SubjectMismatch, Label: "happened to something else",
		Explanation: "An effect with this action's key is on another subject than the one declared.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Undo the effect on the wrong subject; correct how the agent fills in the subject.",
	},
	{
		Code: DuplicateEffect, Label: "it happened more often than allowed",
		Explanation: "More effects of this action were seen than its contract allows.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Undo the surplus; make the tool idempotent by the action's id.",
	},
	{
		Code: OutOfOrder, Label: "in the wrong order",
		Explanation: "A step was seen before the one that it must follow.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "See which came first in `seen`.",
	},
	{
		Code: QuorumNotReached, Label: "too few sources confirm",
		Explanation: "Fewer different sources confirm the effect than the contract asks for, and the others are complete and silent.",
		Results:     []Result{Fail}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: System,
		Next: "Ask why the silent source does not show it.",
	},
	{
		Code: EffectReversed, Label: "undone, or forbidden and seen",
		Explanation: "Something that must not follow the action did.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{NeverCheck}, Side: System,
		Next: "Look at the fact in `seen`: the effect did not last.",
	},
	{
		Code: StateMismatch, Label: "does not stand as expected",
		Explanation: "The latest snapshot at the end of the window does not fulfil the condition.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StateCheck}, Side: System,
		Next: "Compare the snapshot in `seen` with the condition.",
	},
	{
		Code: LimitExceeded, Label: "over the limit",
		Explanation: "The declaration, alone or with those it adds up with, exceeds what the contract allows.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{LimitCheck}, Side: Agent,
		Next: "Ask for approval before acting, or split responsibility; the declaration stays as it is.",
	},
	{
		Code: ApprovalMissing, Label: "not approved",
		Explanation: "No approval that counts was given in its time, and the source of approvals is complete.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Agent,
		Next: "Get approval before acting.",
	},
	{
		Code: ApprovalTooLate, Label: "approved only afterwards",
		Explanation: "The approval was given after the effect.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Agent,
		Next: "Get approval before acting; one given afterwards does not heal it.",
	},
	{
		Code: RequiredParamMissing, Label: "a required parameter is missing",
		Explanation: "A required parameter was not declared, or is not of its type.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{DeclarationCheck}, Side: Agent,
		Next: "See `about` for its name; let the agent or the mapping declare it.",
	},
	{
		Code: DeclarationChanged, Label: "declared again differently",
		Explanation: "The same action id was declared again with other content. The first declaration governs.",
		Lens:        noteOnly, Side: Agent,
		Next: "Use a new action id for a new intent.",
	},
	{
		Code: ContractVersionIgnored, Label: "another version was named",
		Explanation: "The declaration names a version of the contract that was not the active one. The active one governs.",
		Lens:        noteOnly, Side: Agent,
		Next: "Leave the version out, or bring it up to date.",
	},
	{
		Code: ClockSkew, Label: "clocks differ",
		Explanation: "The request's time lies further after its receipt than the contract allows.",
		Lens:        noteOnly, Side: Operator,
		Next: "Set the agent's clock.",
	},
	{
		Code: EvidenceShared, Label: "also backs another contract's action",
		Explanation: "A fact that supports this action supports an action of another contract too.",
		Lens:        noteOnly, Side: Author,
		Next: "See whether both contracts mean the same effect; reconciliation counts it once.",
	},
	{
		Code: WeakLink, Label: "linked by subject only",
		Explanation: "The effect carries no key of this action and belongs to it only because it is the one candidate on the subject.",
		Lens:        noteOnly, Side: Agent,
		Next: "Pass a correlation key for a stronger link.",
	},
	{
		Code: Compensated, Label: "undone by another action",
		Explanation: "Another action says that it undoes this one. The verdict stays what it is.",
		Lens:        noteOnly, Side: Nobody,
		Next: "See `compensation` for the net effect.",
	},
	{
		Code: CompensationRefused, Label: "cannot undo that action",
		Explanation: "The action names one that it may not undo: itself, one that undoes it, one that is undone already, or one of a contract that another contract undoes. The link is refused; the action stands.",
		Lens:        noteOnly, Side: Agent,
		Next: "Correct `compensates`.",
	},
	{
		Code: LateEvidence, Label: "evidence came after settlement",
		Explanation: "A fact arrived after the verdict had settled. It was weighed, and the verdict revised.",
		Lens:        noteOnly, Side: Operator,
		Next: "Let the source's watermark lag as far behind as its facts do.",
	},
	{
		Code: LateCoverage, Label: "a source became complete after settlement",
		Explanation: "A source that had not been complete when the verdict settled now is, and the verdict was revised.",
		Lens:        noteOnly, Side: Nobody,
		Next: "Nothing; a longer `grace` would have waited for it.",
	},
	{
		Code: LateDeclaration, Label: "a declaration came in between",
		Explanation: "An action was declared, or its place among others changed, after the verdict had settled, and the verdict was revised.",
		Lens:        noteOnly, Side: Agent,
		Next: "Declare before acting.",
	},
	{
		Code: FactRetracted, Label: "a fact was taken back",
		Explanation: "A source retracted a fact that belonged to this action.",
		Lens:        noteOnly, Side: System,
		Next: "Ask the source why.",
	},
	{
		Code: AfterSettlement, Label: "happened after settlement",
		Explanation: "A fact about this action happened after its time to settle. It is shown and changes nothing.",
		Lens:        noteOnly, Side: Nobody,
		Next: "Declare an action of its own for what happens later.",
	},
}
