package intent

// NotDeclarable says why a mapped call cannot be declared. Nothing that the
// call says is in it, but for the path at which it was looked for.
type NotDeclarable struct {
	Reason Reason
	Path   string // in the params, or action_id or params; empty if it is about no place
}

// Reason is a word for why a call cannot be declared. Journals keep it and
// programs rely on it, so that a word is never given another meaning.
type Reason string

// The reasons.
const (
	Unmapped      Reason = "unmapped"           // the mapping has no such tool
	NoRequestID   Reason = "no_request_id"      // nothing could be told from its answer
	NoSubject     Reason = "subject_absent"     // nothing, null or an empty text
	NoPlaceholder Reason = "placeholder_absent" // the same in a template
	NotScalar     Reason = "not_scalar"         // an object or a list where a text belongs
	Twice         Reason = "key_twice"          // readers differ in which one counts
	Unreadable    Reason = "unreadable"         // no JSON
	TooLong       Reason = "too_long"           // the server takes less
	BadActionID   Reason = "action_id_refused"  // control characters, or the form of the server's own
)

func (e *NotDeclarable) Error() string {
	switch e.Reason {
	case Unmapped:
		return "the tool is not mapped"
	case NoRequestID:
		return "the call has no request id"
	case NoSubject:
		return "the call has no subject at " + e.Path
	case NoPlaceholder:
		return "the action id needs " + e.Path + ", which the call does not have"
	case NotScalar:
		return "an object or a list stands at " + e.Path + ", where a text or a number belongs"
	case Twice:
		return "the call has " + e.Path + " twice"
	case Unreadable:
		if e.Path != "" {
			return "the value at " + e.Path + " is no JSON"
		}
		return "the params are no JSON object"
	case TooLong:
		return e.Path + " is longer than the server takes"
	case BadActionID:
		return "the action id has control characters or the form of the server's own ids"
	}
	return string(e.Reason)
}
