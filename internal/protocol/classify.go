package protocol

// slotTokens returns where the token of each slot is kept.
func (r *Reader) slotTokens() [slots]*Token {
	m := &r.m
	return [slots]*Token{
		slotID: &m.ID, slotMethod: &m.Method, slotName: &m.Name, slotURI: &m.URI,
		slotRequestID: &m.RequestID, slotProgressToken: &m.ProgressToken, slotMetaProgress: &m.MetaProgress,
		slotLevel: &m.Level, slotProtocolVersion: &m.ProtocolVersion, slotSupportedVersions: &m.SupportedVersions,
		slotPeerName: &m.PeerName, slotPeerVersion: &m.PeerVersion,
		slotRequestState: &m.RequestState, slotTaskID: &m.TaskID, slotTaskStatus: &m.TaskStatus,
		slotRelatedTask: &m.RelatedTask, slotSubscriptionID: &m.SubscriptionID,
		slotResultType: &m.ResultType, slotErrorCode: &m.ErrorCode, slotErrorMessage: &m.ErrorMessage,
		slotError: &r.words[0], slotInput: &r.words[1], slotIsError: &r.words[2],
		slotTaskIsError: &r.words[3], slotNewTask: &r.words[4],
	}
}

// has says whether a member of the message itself was there.
func (r *Reader) has(m member) bool { return r.scanner.frame[0].seen&(1<<m) != 0 }

// isWord says whether the token in a slot is exactly this word.
func (r *Reader) isWord(in slot, word string) bool { return string(r.tokens[in].Raw) == word }

// note takes down that a member begins. Of two members of one object with one
// name the last is in force, as in JSON.parse, and what was read in the first
// is dropped.
func (r *Reader) note(m member) {
	f := &r.scanner.frame[r.scanner.level]
	if f.seen&(1<<m) == 0 {
		f.seen |= 1 << m
		return
	}
	r.m.Flags |= DuplicateKeys
	r.drop(m)
	for _, inner := range below(m) {
		r.drop(inner)
	}
}

func (r *Reader) drop(m member) {
	do := &members[m]
	switch do.slot {
	case noSlot:
	case slotArguments:
		r.m.ArgumentsDigest = 0
	case slotRequestState:
		r.m.StateDigest = 0
		r.m.RequestState = Token{}
	default:
		*r.tokens[do.slot] = Token{}
	}
	if do.part != noPart {
		r.spans[do.part] = Span{}
	}
}

// classify says what the message is, from the members that were there.
//
// A method counts when it is a string, and an error when it is not null:
// some servers write every field of their message type. A request whose id is
// null is a request. An error without an id is a response where the message
// says that it is JSON-RPC, as the protocol allows since 2025-11-25. Whether
// "jsonrpc" is there decides nothing else; peers exist that leave it out.
func (r *Reader) classify() {
	m := &r.m
	m.HasResult = r.has(memberResult)
	m.HasError = r.has(memberError) && !r.isWord(slotError, "null")
	m.IsError = r.isWord(slotIsError, "true")
	m.TaskIsError = r.isWord(slotTaskIsError, "true")
	m.HasInput = r.spans[partInputResponses].End > 0 && !r.isWord(slotInput, "null")
	m.Spans = r.places()
	if m.Flags&(NotJSON|Malformed|Blank) != 0 {
		return
	}
	hasMethod := len(m.Method.Raw) > 0 && m.Method.Raw[0] == '"'
	hasID := m.ID.Raw != nil
	switch {
	case hasMethod && hasID:
		m.Kind = Request
		m.Subject = either(m.Spans.Arguments, m.Spans.Params)
	case hasMethod && m.Flags&Cut == 0: // its id may have been in what was cut off
		m.Kind = Notification
		m.Subject = either(m.Spans.Arguments, m.Spans.Params)
	case hasMethod:
	case hasID && (m.HasResult || m.HasError),
		m.HasError && m.ErrorCode.Raw != nil && r.has(memberVersion) && m.Flags&Cut == 0:
		m.Kind = Response
		m.Subject = either(m.Spans.Result, m.Spans.Error)
		if m.HasError {
			m.Subject = either(m.Spans.Error, m.Spans.Result)
		}
		r.findTask()
	}
}

// findTask says whether an answer is the handle of a new task, and takes its
// id from where an answer of 2025-11-25 has it.
func (r *Reader) findTask() {
	m := &r.m
	nested := r.tokens[slotNewTask]
	if nested.Raw != nil && m.TaskID.Raw == nil {
		m.TaskID = *nested
	}
	m.MakesTask = !m.HasError && m.TaskID.Raw != nil && (nested.Raw != nil || m.ResultType.is(`"task"`))
}

// places returns the spans that were read to their end.
func (r *Reader) places() Spans {
	s := &r.spans
	for i := range s {
		if s[i].End == 0 {
			s[i] = Span{}
		}
	}
	return Spans{
		Params: s[partParams], Arguments: s[partArguments], InputResponses: s[partInputResponses],
		Result: s[partResult], Content: s[partContent], Structured: s[partStructured],
		InputRequests: s[partInputRequests], Error: s[partError], ErrorMessage: s[partErrorMessage],
	}
}

func either(first, second Span) Span {
	if first.End > 0 {
		return first
	}
	return second
}
