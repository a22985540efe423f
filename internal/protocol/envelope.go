package protocol

// A node is an object of the envelope whose members are looked at. All other
// objects and arrays are passed over.
type node uint8

const (
	inMessage node = iota
	inParams
	inMeta // params._meta or result._meta
	inPeer // params.clientInfo, result.serverInfo or one of them in _meta
	inResult
	inError
	nowhere // the value is no object that is looked into
)

// A slot is where the raw token of a member is kept.
type slot int8

const (
	noSlot slot = iota
	slotID
	slotMethod
	slotName
	slotURI
	slotRequestID
	slotProgressToken
	slotMetaProgress
	slotProtocolVersion
	slotPeerName
	slotPeerVersion
	slotResultType
	slotErrorCode
	slotError   // error, where it is no object: null says that there was none
	slotIsError // result.isError
	slots
)

// A part is a member whose place in the message is kept for its shape.
type part int8

const (
	noPart part = iota
	partParams
	partArguments
	partResult
	partError
	parts
)

// A member is one that is read, by its place in the list of members below.
type member int8

const (
	unread member = iota
	memberVersion
	memberID
	memberMethod
	memberParams
	memberResult
	memberError
	memberName
	memberURI
	memberRequestID
	memberProgressToken
	memberParamsVersion
	memberArguments
	memberParamsMeta
	memberClientInfo
	memberMetaProgress
	memberMetaVersion
	memberMetaClient
	memberMetaServer
	memberPeerName
	memberPeerVersion
	memberResultVersion
	memberServerInfo
	memberResultType
	memberIsError
	memberResultMeta
	memberErrorCode
)

// members says what is done with the value of each member that is read.
var members = [...]struct {
	slot  slot
	child node // looked into where the value is an object
	part  part
}{
	memberVersion:       {noSlot, nowhere, noPart},
	memberID:            {slotID, nowhere, noPart},
	memberMethod:        {slotMethod, nowhere, noPart},
	memberParams:        {noSlot, inParams, partParams},
	memberResult:        {noSlot, inResult, partResult},
	memberError:         {slotError, inError, partError},
	memberName:          {slotName, nowhere, noPart},
	memberURI:           {slotURI, nowhere, noPart},
	memberRequestID:     {slotRequestID, nowhere, noPart},
	memberProgressToken: {slotProgressToken, nowhere, noPart},
	memberParamsVersion: {slotProtocolVersion, nowhere, noPart},
	memberArguments:     {noSlot, nowhere, partArguments},
	memberParamsMeta:    {noSlot, inMeta, noPart},
	memberClientInfo:    {noSlot, inPeer, noPart},
	memberMetaProgress:  {slotMetaProgress, nowhere, noPart},
	memberMetaVersion:   {slotProtocolVersion, nowhere, noPart},
	memberMetaClient:    {noSlot, inPeer, noPart},
	memberMetaServer:    {noSlot, inPeer, noPart},
	memberPeerName:      {slotPeerName, nowhere, noPart},
	memberPeerVersion:   {slotPeerVersion, nowhere, noPart},
	memberResultVersion: {slotProtocolVersion, nowhere, noPart},
	memberServerInfo:    {noSlot, inPeer, noPart},
	memberResultType:    {slotResultType, nowhere, noPart},
	memberIsError:       {slotIsError, nowhere, noPart},
	memberResultMeta:    {noSlot, inMeta, noPart},
	memberErrorCode:     {slotErrorCode, nowhere, noPart},
}

// longestKey is the longest name below. Each of its characters may be written
// as a six-byte escape.
const longestKey = len("io.modelcontextprotocol/protocolVersion")

// find returns the member that key names in an object. Names are compared
// with their case, as the receiving side compares them.
func find(in node, key []byte) member {
	switch in {
	case inMessage:
		switch string(key) {
		case "jsonrpc":
			return memberVersion
		case "id":
			return memberID
		case "method":
			return memberMethod
		case "params":
			return memberParams
		case "result":
			return memberResult
		case "error":
			return memberError
		}
	case inParams:
		switch string(key) {
		case "name":
			return memberName
		case "uri":
			return memberURI
		case "requestId":
			return memberRequestID
		case "progressToken":
			return memberProgressToken
		case "protocolVersion":
			return memberParamsVersion
		case "arguments":
			return memberArguments
		case "_meta":
			return memberParamsMeta
		case "clientInfo":
			return memberClientInfo
		}
	case inMeta:
		switch string(key) {
		case "progressToken":
			return memberMetaProgress
		case "io.modelcontextprotocol/protocolVersion":
			return memberMetaVersion
		case "io.modelcontextprotocol/clientInfo":
			return memberMetaClient
		case "io.modelcontextprotocol/serverInfo":
			return memberMetaServer
		}
	case inPeer:
		switch string(key) {
		case "name":
			return memberPeerName
		case "version":
			return memberPeerVersion
		}
	case inResult:
		switch string(key) {
		case "protocolVersion":
			return memberResultVersion
		case "serverInfo":
			return memberServerInfo
		case "resultType":
			return memberResultType
		case "isError":
			return memberIsError
		case "_meta":
			return memberResultMeta
		}
	case inError:
		if string(key) == "code" {
			return memberErrorCode
		}
	}
	return unread
}

// below lists the members that are read inside of a member's value, so that
// a second value of the same name can put them out of force.
func below(m member) []member {
	switch m {
	case memberParams:
		return []member{
			memberName, memberURI, memberRequestID, memberProgressToken, memberParamsVersion, memberArguments,
			memberParamsMeta, memberClientInfo, memberMetaProgress, memberMetaVersion, memberMetaClient,
			memberMetaServer, memberPeerName, memberPeerVersion,
		}
	case memberResult:
		return []member{
			memberResultVersion, memberServerInfo, memberResultType, memberIsError, memberResultMeta,
			memberMetaVersion, memberMetaClient, memberMetaServer, memberPeerName, memberPeerVersion,
		}
	case memberParamsMeta, memberResultMeta:
		return []member{memberMetaProgress, memberMetaVersion, memberMetaClient, memberMetaServer}
	case memberClientInfo, memberServerInfo, memberMetaClient, memberMetaServer:
		return []member{memberPeerName, memberPeerVersion}
	case memberError:
		return []member{memberErrorCode}
	}
	return nil
}

// slotTokens returns where the token of each slot is kept.
func (r *Reader) slotTokens() [slots]*Token {
	m := &r.m
	return [slots]*Token{
		slotID: &m.ID, slotMethod: &m.Method, slotName: &m.Name, slotURI: &m.URI,
		slotRequestID: &m.RequestID, slotProgressToken: &m.ProgressToken, slotMetaProgress: &m.MetaProgress,
		slotProtocolVersion: &m.ProtocolVersion, slotPeerName: &m.PeerName, slotPeerVersion: &m.PeerVersion,
		slotResultType: &m.ResultType, slotErrorCode: &m.ErrorCode,
		slotError: &r.errorToken, slotIsError: &r.isErrorToken,
	}
}

// has says whether a member of the message itself was there.
func (r *Reader) has(m member) bool { return r.scanner.frame[0].seen&(1<<m) != 0 }

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
	if do.slot != noSlot {
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
	m.HasError = r.has(memberError) && string(r.errorToken.Raw) != "null"
	m.IsError = string(r.isErrorToken.Raw) == "true"
	if m.Flags&(NotJSON|Malformed|Blank) != 0 {
		return
	}
	hasMethod := len(m.Method.Raw) > 0 && m.Method.Raw[0] == '"'
	hasID := m.ID.Raw != nil
	switch {
	case hasMethod && hasID:
		m.Kind = Request
		m.Subject = r.span(partArguments, partParams)
	case hasMethod && m.Flags&Cut == 0: // its id may have been in what was cut off
		m.Kind = Notification
		m.Subject = r.span(partArguments, partParams)
	case hasMethod:
	case hasID && (m.HasResult || m.HasError),
		m.HasError && m.ErrorCode.Raw != nil && r.has(memberVersion) && m.Flags&Cut == 0:
		m.Kind = Response
		m.Subject = r.span(partResult, partError)
		if m.HasError {
			m.Subject = r.span(partError, partResult)
		}
	}
}

func (r *Reader) span(first, second part) Span {
	if s := r.spans[first]; s.End > 0 {
		return s
	}
	if s := r.spans[second]; s.End > 0 {
		return s
	}
	return Span{}
}
