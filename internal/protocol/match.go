package protocol

// Opened says what a request is.
type Opened struct {
	// Call is the request as it was taken down; nil for a message that is no
	// request, or one whose id is null.
	Call      *Call
	Ambiguous bool // a request with the same id is open

	// A call may take several rounds: the answer asks for more, and the next
	// request brings it under a new id.
	Round          int   // from 1; 0 where Call is nil
	Continues      *Call // the request that the call began with; nil in round 1
	RoundAmbiguous bool  // it may continue two calls or more, so it continues none
	RoundUnasked   bool  // it brings what no call that is known has asked for

	// Task is the call that the task works for which the request is about;
	// nil where there is none, or not exactly one that is known.
	Task *Call
}

// Match says which request a message belongs to.
type Match struct {
	// Call is the request, nil where there is none or not exactly one. It is
	// the caller's to keep.
	Call      *Call
	Ambiguous bool // two requests with that id or token were open
	Late      bool // the answer to a request that had been cancelled
	Unasked   bool // nothing that is open was asked for by that name

	Interim bool  // the answer asks for more: the call is not over, and its next round has an id of its own
	Handle  bool  // the answer hands out a task: what the call comes to is told under the task's id
	Total   int64 // of an answer with a Call: µs since the last byte of the request that the call began with

	// Task is the call that a task works for, where the message is about a
	// task or is its handle; nil where there is none, or not exactly one that
	// is known. It was answered before, with the handle.
	Task *Call
}
