package entry

import (
	"math/bits"
	"strings"
)

// member is one member of a leaf, or a set of them. The bits are in the order
// of the names, which is the order in which a leaf has them.
type member uint64

const (
	mAt member = 1 << iota
	mBegan
	mBody
	mBytes
	mCall
	mCapture
	mClientBytes
	mCount
	mDefinitions
	mDetail
	mErased
	mExit
	mFirst
	mFlags
	mFraming
	mFrom
	mHead
	mIntent
	mKept
	mKind
	mLast
	mMessages
	mOmitted
	mOpen
	mOutcome
	mReason
	mScope
	mSeq
	mServerBytes
	mSession
	mTook
	mUndelivered
	mVersion
	mWhat
	mWire
	memberEnd
)

var memberNames = [...]string{
	"at", "began", "body", "bytes", "call", "capture", "client_bytes", "count", "definitions", "detail", "erased", "exit",
	"first", "flags", "framing", "from", "head", "intent", "kept", "kind", "last", "messages", "omitted", "open",
	"outcome", "reason", "scope", "seq", "server_bytes", "session", "took", "undelivered", "v", "what",
	"wire",
}

func (m member) name() string { return memberNames[bits.TrailingZeros64(uint64(m))] }

// String names every member of the set.
func (m member) String() string {
	var names []string
	for one := member(1); one < memberEnd; one <<= 1 {
		if m&one != 0 {
			names = append(names, one.name())
		}
	}
	return strings.Join(names, ", ")
}

// memberAfter finds a member by its name among those that may follow seen.
func memberAfter(seen member, name []byte) (member, bool) {
	for i := bits.Len64(uint64(seen)); i < len(memberNames); i++ {
		if memberNames[i] == string(name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// kindRule says which members a kind of entry must and may have.
type kindRule struct {
	required, allowed member
	reasons           []string
}

const (
	inEvery   = mAt | mKind | mSeq | mSession | mVersion
	onTheWire = mBegan | mBytes | mDetail | mFlags | mFraming | mFrom | mWire | inBody
	inBody    = mBody | mHead | mKept | mOmitted

	// zeroIsValue are the integers that a kind writes although they are 0.
	zeroIsValue = mAt | mBytes | mFirst | mLast | mMessages | mOpen | mSeq | mClientBytes | mServerBytes | mUndelivered | mVersion
)

// The kinds that are not here are reserved: a leaf with one of them is not
// valid in this version.
var kindRules = map[Kind]kindRule{
	KindSession:      rule(mCapture, mDetail, nil),
	KindRequest:      rule(mBytes|mFrom, onTheWire|mCall, nil),
	KindRound:        rule(mBytes|mFrom, onTheWire|mCall, nil),
	KindResponse:     rule(mBytes|mFrom, onTheWire|mCall|mTook|mOutcome, nil),
	KindNotification: rule(mBytes|mFrom, onTheWire|mCall, nil),
	KindTools:        rule(mFrom|mMessages|mDefinitions, mDetail|mCall|mFlags, nil),
	KindNoise:        rule(mBytes|mFrom, onTheWire|mMessages, nil),
	KindStderr:       rule(mBytes|mMessages, onTheWire, nil),
	KindGap:          rule(mBytes|mMessages|mReason, mBegan|mDetail|mFrom, gapReasons),
	KindIntent:       rule(mReason, mCall|mDetail|mFlags|mIntent|inBody, intentReasons),
	KindErasure:      rule(mCount|mErased|mFirst|mLast|mScope|mWhat, 0, nil),
	KindEnd:          rule(mReason|mOpen|mClientBytes|mServerBytes|mUndelivered, mExit|mDetail, endReasons),
}

func rule(required, optional member, reasons []string) kindRule {
	required |= inEvery
	return kindRule{required: required, allowed: required | optional, reasons: reasons}
}

// The words of the format. Flags are sorted.
var (
	sides         = []string{"client", "server"}
	captures      = []string{"shape", "redacted", "sealed", "raw"}
	scopes        = []string{ScopeCall, ScopeSession, ScopeBefore, ScopeAll, ScopeRetention}
	whats         = []string{ErasedBodies, ErasedAll}
	outcomes      = []string{string(OutcomeOK), string(OutcomeError), string(OutcomeToolError)}
	gapReasons    = []string{"observer_behind", "observer_failed", "journal_failed"}
	intentReasons = []string{
		IntentDeclaring, IntentRequired, IntentUndeclarable,
		IntentDeclared, IntentFailed, IntentUndeliverable, IntentRefused,
	}
	endReasons = []string{"server_exit", "client_closed", "signal", "start_failed"}
	flagWords  = []string{
		"ambiguous", "batch", "blank", "bom", "cut", "duplicate_keys", "invalid_utf8", "late", "malformed",
		"more", "not_json", "refused", "skimmed", "trailing", "unasked", "unterminated",
	}
)

// knownWords are all of them, each under itself.
var knownWords = func() map[string]string {
	words := make(map[string]string)
	for _, list := range [][]string{sides, captures, scopes, whats, outcomes, gapReasons, intentReasons, endReasons, flagWords} {
		for _, word := range list {
			words[word] = word
		}
	}
	for kind := range kindRules {
		words[string(kind)] = string(kind)
	}
	return words
}()

// presentMembers says which members hold something. A member that is not in
// the set may still be written, as 0, where its kind requires it.
func presentMembers(e *Entry, detail Hash) member {
	set := inEvery
	for m := member(1); m < memberEnd; m <<= 1 {
		if n := integerOf(m, e); n != nil && *n != 0 {
			set |= m
		}
		if s := wordOf(m, e); s != nil && *s != "" {
			set |= m
		}
	}
	// No request is entry 0 of its session, so that 0 means none like -1.
	if e.Call <= 0 {
		set &^= mCall
	}
	if e.Took < 0 {
		set &^= mTook
	} else if e.Kind == KindResponse && e.Call > 0 {
		set |= mTook
	}
	if e.ExitCode < 0 {
		set &^= mExit
	} else if e.Kind == KindEnd {
		set |= mExit
	}
	if e.Outcome != "" {
		set |= mOutcome
	}
	if len(e.Flags) > 0 {
		set |= mFlags
	}
	if e.Wire != (Hash{}) {
		set |= mWire
	}
	if detail != (Hash{}) {
		set |= mDetail
	}
	if e.Definitions != (Hash{}) {
		set |= mDefinitions
	}
	if e.Body != (Hash{}) {
		set |= mBody | mKept // kept nothing is still a body
	}
	if e.Erased != (Hash{}) {
		set |= mErased
	}
	return set
}

// integerOf returns where an entry keeps an integer member, or nil.
func integerOf(m member, e *Entry) *int64 {
	switch m {
	case mAt:
		return &e.At
	case mBegan:
		return &e.Began
	case mBytes:
		return &e.Bytes
	case mCall:
		return &e.Call
	case mClientBytes:
		return &e.ClientBytes
	case mCount:
		return &e.Count
	case mExit:
		return &e.ExitCode
	case mFirst:
		return &e.First
	case mFraming:
		return &e.Framing
	case mHead:
		return &e.Head
	case mIntent:
		return &e.Intent
	case mKept:
		return &e.Kept
	case mLast:
		return &e.Last
	case mMessages:
		return &e.Messages
	case mOmitted:
		return &e.Omitted
	case mOpen:
		return &e.Open
	case mSeq:
		return &e.Seq
	case mServerBytes:
		return &e.ServerBytes
	case mTook:
		return &e.Took
	case mUndelivered:
		return &e.Undelivered
	}
	return nil
}

// wordOf returns where an entry keeps a string member that is not typed, or nil.
func wordOf(m member, e *Entry) *string {
	switch m {
	case mCapture:
		return &e.Capture
	case mFrom:
		return &e.From
	case mReason:
		return &e.Reason
	case mScope:
		return &e.Scope
	case mSession:
		return &e.Session
	case mWhat:
		return &e.What
	}
	return nil
}
