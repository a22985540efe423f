// Package span traces what the server does: it makes spans of requests, of units of
// work on the database, of units of the evaluator and of slow jobs, and sends them
// to a collector by OTLP over HTTP, as JSON.
//
// What is told in a span is a fixed list of attributes, each of them a number, a
// word of the program, or the id of a workspace or a request. Nothing takes a free
// text: no body, no key, no header, no value of a query, no part of a path that
// somebody made up, no text of an error. A nil [Tracer] is one that is off, and
// costs a comparison.
//
// It never holds up what it tells of. Spans that end go into a queue with a bound;
// where the collector is slow or gone the queue fills, and spans are dropped and
// counted. It knows nothing of stores and surfaces, and no package of the domain
// knows of it: internal/server and cmd/deed hook it in where they measure.
//
// # Life of a span
//
// An agent declares a refund, with traceparent "00-4bf9…-00f0…-01" in its request.
// [Tracer.Request] begins a span below the agent's own, in the same trace, and the
// request goes on with it in its context. The service runs a unit of work: the
// store asks [Tracer.Unit] for a span below the request's, and ends it with how
// often the unit ran. The answer is written; [Tracer.Answered] names the span after
// its route, "POST /v1/actions", and adds the status. It ends and lies in the queue
// for at most a second, until it goes to the collector with up to 511 others. The
// collector says 503 and Retry-After: 2, and has the same batch two seconds later.
package span
