package entry

import (
	"fmt"
	"slices"
)

// Error says that an entry breaks a rule of the format. It was not
// queued, and its place in the session is still free.
type Error struct{ Reason string }

func (e *Error) Error() string { return "entry cannot be recorded: " + e.Reason }

// checkValues checks what holds for every kind. Which members there may be
// has been checked before.
func checkValues(e *Entry) error {
	if !isHex(e.Session, 32) {
		return &Error{Reason: fmt.Sprintf("session %q is not 32 hex digits", e.Session)}
	}
	for m := member(1); m < memberEnd; m <<= 1 {
		n := integerOf(m, e)
		if n == nil || (*n == -1 && m&(mCall|mTook|mExit) != 0) {
			continue
		}
		if *n < 0 || *n > MaxInteger {
			return &Error{Reason: fmt.Sprintf("%s is %d, not from 0 to 2^53-1", m, *n)}
		}
	}
	if e.Call >= e.Seq && e.Call > 0 {
		return &Error{Reason: fmt.Sprintf("entry %d belongs to call %d, which comes later", e.Seq, e.Call)}
	}
	if e.Call <= 0 && e.Took > 0 {
		return &Error{Reason: "took is known and its call is not"}
	}
	if e.Kind == KindNoise && e.Messages == 1 {
		return &Error{Reason: "messages is left out of noise that is one line"}
	}
	if e.Began != 0 && e.Began == e.At {
		return &Error{Reason: "began is left out when it equals at"}
	}
	if err := checkBodyValues(e); err != nil {
		return err
	}
	if err := checkErasureValues(e); err != nil {
		return err
	}
	if err := checkIntentValues(e); err != nil {
		return err
	}
	for _, check := range []struct {
		member member
		value  string
		words  []string
	}{
		{mFrom, e.From, sides},
		{mOutcome, string(e.Outcome), outcomes},
		{mCapture, e.Capture, captures},
		{mScope, e.Scope, scopes},
		{mWhat, e.What, whats},
	} {
		if check.value != "" && !slices.Contains(check.words, check.value) {
			return &Error{Reason: fmt.Sprintf("%s %q is not a word of the format", check.member, check.value)}
		}
	}
	if e.Reason != "" && !slices.Contains(kindRules[e.Kind].reasons, e.Reason) {
		return &Error{Reason: fmt.Sprintf("reason %q is not one of a %s", e.Reason, e.Kind)}
	}
	for i, flag := range e.Flags {
		if _, ok := slices.BinarySearch(flagWords, flag); !ok {
			return &Error{Reason: fmt.Sprintf("flag %q is not a word of the format", flag)}
		}
		if i > 0 && e.Flags[i-1] >= flag {
			return &Error{Reason: "flags are not sorted, or stand there twice"}
		}
	}
	return nil
}

// checkBodyValues checks what must hold between the members about a body.
func checkBodyValues(e *Entry) error {
	switch {
	case e.Body == Hash{}:
		if e.Kept != 0 || e.Omitted != 0 || e.Head != 0 {
			return &Error{Reason: "something is said of a body, and there is none"}
		}
	case e.Head > e.Kept:
		return &Error{Reason: fmt.Sprintf("the head of its body has %d bytes, and %d are kept", e.Head, e.Kept)}
	case e.Head > 0 && e.Omitted == 0:
		return &Error{Reason: "its body has a head, and nothing was left out"}
	}
	return nil
}

// checkErasureValues checks what must hold between the members of an erasure.
func checkErasureValues(e *Entry) error {
	if e.Kind != KindIntent && (e.Kind == KindErasure) != (e.Session == OwnSession) {
		return &Error{Reason: fmt.Sprintf("a %s cannot belong to session %s", e.Kind, e.Session)}
	}
	if e.Kind != KindErasure {
		return nil
	}
	if e.Count < 1 || e.Last < e.First || e.Count > e.Last-e.First+1 {
		return &Error{Reason: fmt.Sprintf("%d entries from %d to %d cannot be", e.Count, e.First, e.Last)}
	}
	return nil
}

// checkIntentValues checks what must hold between the members of an intent.
func checkIntentValues(e *Entry) error {
	if e.Kind != KindIntent {
		return nil
	}
	begins := slices.Contains(intentReasons[:3], e.Reason)
	switch {
	case begins != (e.Intent == 0):
		return &Error{Reason: fmt.Sprintf("an intent that is %s is about intent %d", e.Reason, e.Intent)}
	case (e.Reason == IntentDeclaring || e.Reason == IntentRequired) != (e.Body != Hash{}):
		return &Error{Reason: "an intent has the declaration as its body when it begins, and only then"}
	case e.Session == OwnSession && e.Reason != IntentDeclared && e.Reason != IntentUndeliverable:
		return &Error{Reason: fmt.Sprintf("an intent that is %s cannot belong to session %s", e.Reason, e.Session)}
	case e.Session != OwnSession && e.Intent >= e.Seq && e.Intent != 0:
		return &Error{Reason: fmt.Sprintf("entry %d is about intent %d, which comes later", e.Seq, e.Intent)}
	}
	return nil
}

func isHex(s string, digits int) bool {
	if len(s) != digits {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
