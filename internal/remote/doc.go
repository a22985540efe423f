// Package remote speaks to a Deed server over HTTP for those who are outside of
// it: the client package and the commands.
//
// It knows requests, errors and when to try again, and nothing of actions or
// facts. What it sends may be sent twice, so that it must only be given requests
// that the server takes as a replay the second time. A credential goes to the one
// address it was made for: redirects are not followed.
//
// # Life of a request
//
// [Conn.Call] marshals the body once and sends it. The server answers 503 and
// asks for two seconds; after these the same bytes go out again, and the answer
// 201 is unmarshalled. Had it been 403, nothing would help: the caller gets an
// [Error] with the server's code and message. Had nothing answered until the
// caller's deadline, the error says what was tried last.
package remote
