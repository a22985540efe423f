package protocol

// The names in _meta that the protocol has taken for itself.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClientInfo   = metaPrefix + "clientInfo"
	metaServerInfo   = metaPrefix + "serverInfo"
	metaRelatedTask  = metaPrefix + "related-task"
	metaSubscription = metaPrefix + "subscriptionId"
)

// longestKey is the longest name below. Each of its characters may be written
// as a six-byte escape.
const longestKey = len(metaVersion)

// find returns the member that key names in an object. Names are compared
// with their case, as the receiving side compares them.
func find(in node, key []byte) member {
	switch in {
	case inMessage:
		return findTop(key)
	case inParams:
		return findParam(key)
	case inParamsMeta:
		return findParamMeta(key)
	case inResult:
		return findResult(key)
	case inResultMeta:
		return findResultMeta(key)
	case inPeer:
		switch string(key) {
		case "name":
			return memberPeerName
		case "version":
			return memberPeerVersion
		}
	case inError:
		switch string(key) {
		case "code":
			return memberErrorCode
		case "message":
			return memberErrorMessage
		}
	case inNewTask:
		switch string(key) {
		case "taskId":
			return memberNewTaskID
		case "status":
			return memberNewTaskStatus
		}
	case inRelatedTask:
		if string(key) == "taskId" {
			return memberRelatedTaskID
		}
	case inTaskResult:
		if string(key) == "isError" {
			return memberTaskIsError
		}
	}
	return unread
}

func findTop(key []byte) member {
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
	return unread
}

func findParam(key []byte) member {
	switch string(key) {
	case "name":
		return memberName
	case "uri":
		return memberURI
	case "requestId":
		return memberRequestID
	case "progressToken":
		return memberProgressToken
	case "level":
		return memberLevel
	case "protocolVersion":
		return memberParamsVersion
	case "arguments":
		return memberArguments
	case "inputResponses":
		return memberInputResponses
	case "requestState":
		return memberParamsState
	case "taskId":
		return memberParamsTaskID
	case "status":
		return memberParamsStatus
	case "result":
		return memberParamsTaskResult
	case "_meta":
		return memberParamsMeta
	case "clientInfo":
		return memberClientInfo
	}
	return unread
}

// findParamMeta does not know serverInfo: who sends params is no server that
// introduces itself, and an echo must not name it.
func findParamMeta(key []byte) member {
	switch string(key) {
	case "progressToken":
		return memberMetaProgress
	case metaVersion:
		return memberMetaVersion
	case metaClientInfo:
		return memberMetaClient
	case metaRelatedTask:
		return memberMetaTask
	case metaSubscription:
		return memberMetaSubscription
	}
	return unread
}

func findResult(key []byte) member {
	switch string(key) {
	case "protocolVersion":
		return memberResultVersion
	case "supportedVersions":
		return memberSupportedVersions
	case "serverInfo":
		return memberServerInfo
	case "resultType":
		return memberResultType
	case "isError":
		return memberIsError
	case "content":
		return memberContent
	case "structuredContent":
		return memberStructured
	case "inputRequests":
		return memberInputRequests
	case "requestState":
		return memberResultState
	case "taskId":
		return memberResultTaskID
	case "status":
		return memberResultStatus
	case "result":
		return memberResultTaskResult
	case "task":
		return memberNewTask
	case "_meta":
		return memberResultMeta
	}
	return unread
}

// findResultMeta does not know clientInfo: servers exist that echo the _meta
// of the request, and the client's name is not theirs.
func findResultMeta(key []byte) member {
	switch string(key) {
	case metaVersion:
		return memberMetaVersion
	case metaServerInfo:
		return memberMetaServer
	case metaRelatedTask:
		return memberMetaTask
	case metaSubscription:
		return memberMetaSubscription
	}
	return unread
}
