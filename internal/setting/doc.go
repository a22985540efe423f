// Package setting describes every setting of the server once, and reads them.
//
// One table has for each its name, its default, its form and what it means. The
// flag, the environment variable and the key in the file follow from the name,
// and so do the page docs/settings.md and what deed serve --print-config shows.
// A setting that is not in the table does not exist.
//
// It opens no database, listens nowhere and makes no folder: it turns text into a
// [Config] and says what is wrong with it. Whether a file can be read or an
// address be bound is for whoever uses it.
//
// # Life of a setting
//
// An operator writes "listen: 0.0.0.0:7373" into deed.yaml and starts deed serve
// --config deed.yaml, with DEED_LISTEN=127.0.0.1:8080 in the environment. [Read]
// finds listen in the file and in the environment; the environment goes before
// the file, so that 127.0.0.1:8080 holds, and its [Origin] is DEED_LISTEN. Its
// form is an address, so it is read as one. Had the file said "lisen:", the error
// would name the file, the line, and listen as what was probably meant.
package setting
