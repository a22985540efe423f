// Package vault seals the secrets that a server has to keep and use again: the
// credentials of connections, the secrets of clients, the keys of ledgers.
//
// What is sealed can be kept in a database that others read. The key that opens it
// is in a file beside the server, or comes from a command that asks a key management
// service ([Run]), and is never in the database; nothing that this package returns
// prints it. A sealed secret is bound to its workspace and its
// name: moved into another row it does not open. The package keeps nothing and
// knows no database; of the installation it needs two calls ([Registry]).
//
// Passwords and API keys are not sealed but hashed, which is for other packages:
// they need never be read again.
//
// # Life of a secret
//
// A member connects Stripe. [Vault.Seal] derives the workspace's own key from the
// first key of the file (HKDF-SHA256, RFC 5869), draws a nonce, and encrypts the
// credential with AES-256-GCM; workspace and name are authenticated with it. The
// form begins with a version and the short name of the key. A year later a new key
// is put in front of the file ([Rotate]): what is sealed from now on is sealed with
// it, and the credential still opens with the old one. An instance that was started
// with another file learns from the fingerprints in the database ([Vault.Admit])
// that it could open nothing, and does not start.
package vault
