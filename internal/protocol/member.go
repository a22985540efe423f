package protocol

// A node is an object of the envelope whose members are looked at. All other
// objects and arrays are passed over.
type node uint8

const (
	inMessage node = iota
	inParams
	inParamsMeta
	inPeer // params.clientInfo, result.serverInfo or one of them in _meta
	inResult
	inResultMeta
	inError
	inNewTask     // result.task, which an answer of 2025-11-25 hands out
	inRelatedTask // the task that a _meta names
	inTaskResult  // the result within the state of a task
	nowhere       // the value is no object that is looked into
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
	slotLevel
	slotProtocolVersion
	slotSupportedVersions
	slotPeerName
	slotPeerVersion
	slotRequestState
	slotTaskID
	slotTaskStatus
	slotRelatedTask
	slotSubscriptionID
	slotResultType
	slotErrorCode
	slotErrorMessage
	slotError       // error, where it is no object: null says that there was none
	slotInput       // params.inputResponses, where it is null or another word
	slotIsError     // result.isError
	slotTaskIsError // isError of the result within the state of a task
	slotNewTask     // result.task.taskId
	slots

	slotArguments // kept as a digest and not as a token
)

// A part is a member whose place in the message is kept.
type part int8

const (
	noPart part = iota
	partParams
	partArguments
	partInputResponses
	partResult
	partContent
	partStructured
	partInputRequests
	partError
	partErrorMessage
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
	memberLevel
	memberParamsVersion
	memberArguments
	memberInputResponses
	memberParamsState
	memberParamsTaskID
	memberParamsStatus
	memberParamsTaskResult
	memberParamsMeta
	memberClientInfo

	memberMetaProgress
	memberMetaVersion
	memberMetaClient
	memberMetaServer
	memberMetaTask
	memberMetaSubscription
	memberRelatedTaskID

	memberPeerName
	memberPeerVersion

	memberResultVersion
	memberSupportedVersions
	memberServerInfo
	memberResultType
	memberIsError
	memberContent
	memberStructured
	memberInputRequests
	memberResultState
	memberResultTaskID
	memberResultStatus
	memberResultTaskResult
	memberNewTask
	memberResultMeta

	memberNewTaskID
	memberNewTaskStatus
	memberTaskIsError

	memberErrorCode
	memberErrorMessage
	allMembers
)

// Which members an object had is a bit each of a uint64.
const _ = uint(64 - allMembers)

// members says what is done with the value of each member that is read.
var members = [allMembers]struct {
	slot  slot
	child node // looked into where the value is an object
	part  part
}{
	memberVersion: {noSlot, nowhere, noPart},
	memberID:      {slotID, nowhere, noPart},
	memberMethod:  {slotMethod, nowhere, noPart},
	memberParams:  {noSlot, inParams, partParams},
	memberResult:  {noSlot, inResult, partResult},
	memberError:   {slotError, inError, partError},

	memberName:             {slotName, nowhere, noPart},
	memberURI:              {slotURI, nowhere, noPart},
	memberRequestID:        {slotRequestID, nowhere, noPart},
	memberProgressToken:    {slotProgressToken, nowhere, noPart},
	memberLevel:            {slotLevel, nowhere, noPart},
	memberParamsVersion:    {slotProtocolVersion, nowhere, noPart},
	memberArguments:        {slotArguments, nowhere, partArguments},
	memberInputResponses:   {slotInput, nowhere, partInputResponses},
	memberParamsState:      {slotRequestState, nowhere, noPart},
	memberParamsTaskID:     {slotTaskID, nowhere, noPart},
	memberParamsStatus:     {slotTaskStatus, nowhere, noPart},
	memberParamsTaskResult: {noSlot, inTaskResult, noPart},
	memberParamsMeta:       {noSlot, inParamsMeta, noPart},
	memberClientInfo:       {noSlot, inPeer, noPart},

	memberMetaProgress:     {slotMetaProgress, nowhere, noPart},
	memberMetaVersion:      {slotProtocolVersion, nowhere, noPart},
	memberMetaClient:       {noSlot, inPeer, noPart},
	memberMetaServer:       {noSlot, inPeer, noPart},
	memberMetaTask:         {noSlot, inRelatedTask, noPart},
	memberMetaSubscription: {slotSubscriptionID, nowhere, noPart},
	memberRelatedTaskID:    {slotRelatedTask, nowhere, noPart},

	memberPeerName:    {slotPeerName, nowhere, noPart},
	memberPeerVersion: {slotPeerVersion, nowhere, noPart},

	memberResultVersion:     {slotProtocolVersion, nowhere, noPart},
	memberSupportedVersions: {slotSupportedVersions, nowhere, noPart},
	memberServerInfo:        {noSlot, inPeer, noPart},
	memberResultType:        {slotResultType, nowhere, noPart},
	memberIsError:           {slotIsError, nowhere, noPart},
	memberContent:           {noSlot, nowhere, partContent},
	memberStructured:        {noSlot, nowhere, partStructured},
	memberInputRequests:     {noSlot, nowhere, partInputRequests},
	memberResultState:       {slotRequestState, nowhere, noPart},
	memberResultTaskID:      {slotTaskID, nowhere, noPart},
	memberResultStatus:      {slotTaskStatus, nowhere, noPart},
	memberResultTaskResult:  {noSlot, inTaskResult, noPart},
	memberNewTask:           {noSlot, inNewTask, noPart},
	memberResultMeta:        {noSlot, inResultMeta, noPart},

	memberNewTaskID:     {slotNewTask, nowhere, noPart},
	memberNewTaskStatus: {slotTaskStatus, nowhere, noPart},
	memberTaskIsError:   {slotTaskIsError, nowhere, noPart},

	memberErrorCode:    {slotErrorCode, nowhere, noPart},
	memberErrorMessage: {slotErrorMessage, nowhere, partErrorMessage},
}

// below lists the members that are read inside of a member's value, so that
// a second value of the same name can put them out of force.
func below(m member) []member {
	switch m {
	case memberParams:
		return []member{
			memberName, memberURI, memberRequestID, memberProgressToken, memberLevel, memberParamsVersion,
			memberArguments, memberInputResponses, memberParamsState, memberParamsTaskID, memberParamsStatus,
			memberMetaProgress, memberMetaVersion, memberMetaSubscription, memberRelatedTaskID,
			memberPeerName, memberPeerVersion, memberTaskIsError,
		}
	case memberResult:
		return []member{
			memberResultVersion, memberSupportedVersions, memberResultType, memberIsError, memberContent,
			memberStructured, memberInputRequests, memberResultState, memberResultTaskID, memberResultStatus,
			memberMetaVersion, memberMetaSubscription, memberRelatedTaskID,
			memberPeerName, memberPeerVersion, memberNewTaskID, memberTaskIsError,
		}
	case memberParamsMeta, memberResultMeta:
		return []member{
			memberMetaProgress, memberMetaVersion, memberMetaSubscription, memberRelatedTaskID,
			memberPeerName, memberPeerVersion,
		}
	case memberMetaTask:
		return []member{memberRelatedTaskID}
	case memberClientInfo, memberServerInfo, memberMetaClient, memberMetaServer:
		return []member{memberPeerName, memberPeerVersion}
	case memberNewTask:
		return []member{memberNewTaskID, memberNewTaskStatus}
	case memberParamsTaskResult, memberResultTaskResult:
		return []member{memberTaskIsError}
	case memberError:
		return []member{memberErrorCode, memberErrorMessage}
	}
	return nil
}
