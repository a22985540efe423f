// Package recorder declares what an AI agent is about to do through an MCP
// tool, for programs that hold the agent's traffic in their own hands. Where
// a server is started by a command, `deed run --map` does the same in front
// of it, and more.
//
// The agent may declare its intent. It may read the verdict. It must never
// control the independent facts, the governing contract, or the final
// evidence. This package does the first of the three and nothing else: it
// alters no message, and what a tool answered is never sent anywhere, because
// an answer is a claim and no evidence.
//
// It knows no transport of MCP: it is given messages and says whether to
// forward them. It keeps nothing on disk; a declaration that fails is told and
// is not sent again.
//
// # Life of a call
//
// A client sends a tools/call of refund_payment. [Recorder.BeforeForward] finds
// the tool in the [Mapping], makes the declaration from the text of the message
// and posts it to the API; the amount 180.0 arrives there as 180.0. The
// [Decision] says to forward the message as it is. When the server answers,
// [Recorder.AfterResponse] logs that a result came and whether it called itself
// an error, and that is all it does with it. Should the API be down, the call
// is forwarded all the same and the gap is logged, unless
// [Options.NoFailOpen] asks to refuse it.
package recorder
