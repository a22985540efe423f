// Package account is how people and programs get into a workspace: the first start,
// keys, members, sessions, sign-in links and passwords.
//
// What a credential may do is for package access to say; this package finds what
// belongs to it, keeps what changes, and writes every change into the audit. It
// speaks to a store and knows neither HTTP nor SQL: cookies and headers are for
// surfaces. Keys, links and session tokens are random and kept as hashes, so that a
// stolen database opens nothing; passwords are people's own, and kept as argon2id.
// There is no default password, and none for anybody who did not choose one.
//
// # Life of a sign-in
//
// A server starts on an empty store. [Service.Bootstrap] makes a workspace, its
// owner, and a link that works once; of several instances that start at once one
// makes them. The owner opens the link: [Service.SignIn] uses it up, keeps the hash
// of a new token, and gives the token to a page, which puts it into a cookie. With
// each request [Service.Authenticate] finds the session by the hash and the member's
// role as it is now, so that somebody who was removed is out at once. To make a key
// the owner has to be there: a sign-in of the last minutes says so, and later
// [Service.Confirm]. The key is shown once. Programs send it, and it is looked up
// at most once a second, so that a revoked key is dead within a second everywhere,
// and here at once.
package account
