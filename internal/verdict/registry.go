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
		Explanation: "Every check of the lens that applies to the action passed, and at least one applies.",
		Results:     []Result{Pass}, Lens: bothLenses, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: EffectSeen, Label: "the effect was seen",
		Explanation: "As many effects as the contract asks for were seen in their window, with values that fulfil its condition.",
		Results:     []Result{Pass}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: AbsentAndCovered, Label: "not seen, and it would have been",
		Explanation: "Nothing of the kind was seen, and every source that could tell of it is complete to the time of settlement.",
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
		Explanation: "The declaration arrived no later after its request than clocks may differ, or else a journal's proof or complete sources show that it came before the effect.",
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
		Explanation: "The check's `when` is false for this action, so that the check counts neither for it nor against it.",
		Results:     []Result{NotApplicable}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Nobody,
		Next: "Nothing.",
	},
	{
		Code: NoEffectToApprove, Label: "nothing happened that needed approval",
		Explanation: "The effect that the approval must precede did not happen, or its step does not apply.",
		Results:     []Result{NotApplicable}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Nobody,
		Next: "Nothing here; the step itself says what became of the effect.",
	},
	{
		Code: AwaitingEvidence, Label: "waiting for evidence",
		Explanation: "What was seen so far decides nothing yet, and what is missing may still come.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck}, Side: Nobody,
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
		Explanation: "A source that the check looks at is trusted less than the contract asks. Its facts prove nothing, and that it shows none proves nothing either.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck}, Side: Operator,
		Next: "Connect the source with a credential that the agent does not have, or name another source in the contract.",
	},
	{
		Code: ValueMissing, Label: "a value is not there",
		Explanation: "A condition needs a parameter or an attribute of a fact that is not there. What is missing is neither true nor false.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Operator,
		Next: "See `about` for its name; let the connector fill the attribute, or the agent declare the parameter.",
	},
	{
		Code: ValueNotComparable, Label: "two values cannot be compared",
		Explanation: "A condition compares values of different kinds, such as a text with a number.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Author,
		Next: "Give the parameter its type in the contract, or let the connector type the attribute.",
	},
	{
		Code: AmbiguousMatch, Label: "several actions could claim it",
		Explanation: "One fact backs one action only, several actions could claim this one, and it is not certain that there is enough for all of them.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: Agent,
		Next: "Pass a correlation key, such as the action's id as idempotency key, so that each effect names its action.",
	},
	{
		Code: SourcesDisagree, Label: "sources disagree",
		Explanation: "Two sources tell the same effect differently, and the contract does not say which decides.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, StateCheck, ApprovalCheck}, Side: System,
		Next: "Find out which source is right. If it always is, let the contract say so: `evidence: {decides: …}`.",
	},
	{
		Code: SourceContradictsItself, Label: "a source contradicts itself",
		Explanation: "A source gives two contents for one fact without saying which is newer, or tells one effect in two ways.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, ApprovalCheck}, Side: Operator,
		Next: "Let the connector number its revisions, or read the source again.",
	},
	{
		Code: OrderNotEstablished, Label: "the order is not known",
		Explanation: "Of two things whose order matters, one was not seen, or both carry the same time.",
		Results:     []Result{Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: System,
		Next: "See what became of the other check. Where the times are equal, a source that tells finer times settles it.",
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
		Next: "See whether the connector reads snapshots of this kind of subject, and early enough.",
	},
	{
		Code: HistoryNotCovered, Label: "the history is not complete",
		Explanation: "Not all declarations within the rolling limit's window are known.",
		Results:     []Result{Unknown}, Lens: ConformanceLens, Kinds: []Kind{LimitCheck}, Side: Operator,
		Next: "Wait until earlier declarations have arrived, such as those still in a recorder's outbox.",
	},
	{
		Code: DeclaredLate, Label: "declared late",
		Explanation: "The declaration arrived later after its request than clocks may differ, and nothing proves that it came before the effect.",
		Results:     []Result{Unknown}, Lens: ConformanceLens, Kinds: []Kind{DeclarationCheck}, Side: Agent,
		Next: "Declare before acting, or send a proof from a journal whose checkpoint a witness has signed.",
	},
	{
		Code: NothingApplied, Label: "no check applied",
		Explanation: "No check of the lens applies to this action, and that proves nothing.",
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
		Explanation: "The window is over, every source that could tell is complete to its end, and no effect is there.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Look at what the tool did; its answer was only a claim. Repeat the action if it is still wanted.",
	},
	{
		Code: EffectNotAttributable, Label: "somebody else did it",
		Explanation: "An effect of the kind is on the subject, but it names another actor or another action. It stands beside the code that says what is missing.",
		Results:     []Result{Fail, Unknown}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Pass the correlation key; if a person did it, the agent's own effect is still missing.",
	},
	{
		Code: LateEffect, Label: "it came too late",
		Explanation: "The effect happened, but after the end of its window.",
		Results:     []Result{Fail, Unknown}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Find out what held it up, or widen `within` if that is no breach.",
	},
	{
		Code: EffectBeforeDeclaration, Label: "it happened before it was declared",
		Explanation: "An effect with this action's key happened before the action was requested and before it was declared, by more than clocks may differ.",
		Results:     []Result{Fail, Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, DeclarationCheck}, Side: Agent,
		Next: "Declare before acting. If clocks are wrong, set them; `max_skew` says how far they may differ.",
	},
	{
		Code: ValueMismatch, Label: "other than declared",
		Explanation: "The effect is there, with a value that the contract's condition does not allow.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Compare the declared parameters with the fact in `seen`.",
	},
	{
		Code: CurrencyDiffers, Label: "another currency",
		Explanation: "Two amounts are in different currencies, which are never equal, ordered or added up. An effect in another currency is a wrong effect; a limit in another currency says nothing.",
		Results:     []Result{Fail, Unknown}, Lens: bothLenses, Kinds: []Kind{StepCheck, NeverCheck, StateCheck, LimitCheck, ApprovalCheck}, Side: Agent,
		Next: "Compare the declared currency with the effect's; if both are right, give the contract a limit per currency.",
	},
	{
		Code: PartialEffect, Label: "only a part happened",
		Explanation: "What was seen is a part of what the contract asks for: too few effects, or less in sum.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "See what is still missing, and repeat or correct that part.",
	},
	{
		Code: SubjectMismatch, Label: "happened to something else",
		Explanation: "An effect with this action's key is on another subject than the declared one.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Undo the effect on the wrong subject; correct how the agent fills in the subject.",
	},
	{
		Code: DuplicateEffect, Label: "it happened more often than allowed",
		Explanation: "More effects of this action were seen than its contract allows, whether within their window or not.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "Undo the surplus. Let the tool take the action's id as idempotency key, so that trying again does nothing twice.",
	},
	{
		Code: OutOfOrder, Label: "in the wrong order",
		Explanation: "A step was seen before the one that it must follow.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{StepCheck}, Side: Agent,
		Next: "See in `seen` which came first, and correct the order in which the agent works.",
	},
	{
		Code: QuorumNotReached, Label: "too few sources confirm",
		Explanation: "Fewer different sources confirm it than the contract asks for, and the others are complete and show nothing.",
		Results:     []Result{Fail}, Lens: bothLenses, Kinds: []Kind{StepCheck, ApprovalCheck}, Side: System,
		Next: "Ask why the silent source does not show it.",
	},
	{
		Code: EffectReversed, Label: "what must not follow did",
		Explanation: "Something was seen that must not follow the action, such as its reversal, and it is this action's or must not happen whoever does it.",
		Results:     []Result{Fail}, Lens: OutcomeLens, Kinds: []Kind{NeverCheck}, Side: System,
		Next: "Look at the fact in `seen` and find out why it happened; if it undid the effect, that did not last.",
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
		Next: "Find out why the agent went over it. If it was right to, raise the limit in a new version of the contract; this verdict stays.",
	},
	{
		Code: ApprovalMissing, Label: "not approved",
		Explanation: "No approval that counts was given before the effect, and the source of approvals is complete to that time.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Agent,
		Next: "Get approval before acting.",
	},
	{
		Code: ApprovalTooLate, Label: "approved only afterwards",
		Explanation: "Approval was given only after the effect.",
		Results:     []Result{Fail}, Lens: ConformanceLens, Kinds: []Kind{ApprovalCheck}, Side: Agent,
		Next: "Get approval before acting; approval afterwards changes nothing.",
	},
	{
		Code: RequiredParamMissing, Label: "a required parameter is missing",
		Explanation: "A parameter that the contract requires was not declared, or is not of its type.",
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
		Explanation: "The declaration names another version of the contract than was active when it arrived. The active one governs.",
		Lens:        noteOnly, Side: Agent,
		Next: "Leave the version out, or bring it up to date.",
	},
	{
		Code: ClockSkew, Label: "clocks differ",
		Explanation: "The request carries a later time than its receipt, by more than clocks may differ.",
		Lens:        noteOnly, Side: Operator,
		Next: "Set the clock of the machine that the agent runs on.",
	},
	{
		Code: EvidenceShared, Label: "also backs another contract's action",
		Explanation: "A fact that supports this action supports an action of another contract too.",
		Lens:        noteOnly, Side: Author,
		Next: "See whether both contracts mean the same effect; reconciliation counts it once.",
	},
	{
		Code: WeakLink, Label: "linked by subject only",
		Explanation: "The effect carries no key of this action. It counts because it is on the subject and nothing says that it is another's.",
		Lens:        noteOnly, Side: Agent,
		Next: "Pass a correlation key, such as the action's id as idempotency key.",
	},
	{
		Code: Compensated, Label: "undone by another action",
		Explanation: "Another action says that it undoes this one. The verdict stays what it is.",
		Lens:        noteOnly, Side: Nobody,
		Next: "See `compensation` for the net effect.",
	},
	{
		Code: CompensationRefused, Label: "cannot undo that action",
		Explanation: "The action says that it undoes one that it may not undo: itself, one that undoes it, one that is undone already, or one of another contract than it is for. The link is refused; the action stands.",
		Lens:        noteOnly, Side: Agent,
		Next: "See `about` for which of these it is, and correct `compensates`.",
	},
	{
		Code: LateEvidence, Label: "evidence came after settlement",
		Explanation: "A fact arrived after the verdict had settled. It was weighed with the others, and the verdict revised.",
		Lens:        noteOnly, Side: Operator,
		Next: "Let the source's watermark stay as far behind as its facts come late.",
	},
	{
		Code: LateCoverage, Label: "a source became complete after settlement",
		Explanation: "A source that had not been complete when the verdict settled now is, and the verdict was revised.",
		Lens:        noteOnly, Side: Nobody,
		Next: "Nothing; a longer `grace` would have waited for it.",
	},
	{
		Code: LateDeclaration, Label: "a declaration came in between",
		Explanation: "After the verdict had settled, other actions were declared that compete with this one or add up with it, and the verdict was revised.",
		Lens:        noteOnly, Side: Agent,
		Next: "Declare before acting.",
	},
	{
		Code: FactRetracted, Label: "a fact was taken back",
		Explanation: "A source took back a fact that belonged to this action. It counts for nothing any more.",
		Lens:        noteOnly, Side: System,
		Next: "Ask whoever runs the system of record why.",
	},
	{
		Code: AfterSettlement, Label: "happened after settlement",
		Explanation: "Something of this action's happened after its time to settle. It is shown and changes nothing.",
		Lens:        noteOnly, Side: Nobody,
		Next: "Declare an action of its own for what happens later.",
	},
}
