// Package api answers HTTP below /v1: it turns requests into calls of the domain's
// services, and what they return into JSON.
//
// Everything that is true of all endpoints is written once. One table (table.go)
// has every endpoint with its method, its path, what it needs, what it takes, what
// it answers and which errors it may give; routing, authentication, limits, and
// the OpenAPI description are made from it, and so is the table of docs/api.md. A
// handler gets a [call] whose principal may do what the table asks for, with its
// parameters read, and only then reads the body.
//
// The package decides nothing that another surface would have to decide again:
// who may do what is internal/access's and the services' business, what an action
// looks like internal/view's. It has no database and no clock of its own.
//
// # Life of a request
//
// POST /v1/actions arrives with x-api-key. The request gets an id, the path is
// found in the table, the key becomes a principal, once; the principal holds
// actions:record, so the body is read, up to 256 KiB and only if it is JSON. The
// handler has the declarations parsed and declared. What comes back is written in
// one piece with its status; an error becomes the one shape that all errors have.
// At the end the [Options.Observe] hook is told what was asked, by whom, and how
// it ended.
package api
