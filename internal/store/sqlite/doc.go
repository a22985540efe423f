// Package sqlite opens a store in a folder: one SQLite database for one process.
//
// It is a driver of internal/store/sqlstore and knows no statement but those that
// open the database. Units that write run one after the other in the order in
// which they came; views run beside them, each on its snapshot. Everything that Do
// has returned from survives a loss of power.
//
// # Life of a folder
//
// `deed serve --data DIR` opens DIR. [Open] makes it private, or refuses it where it
// is for other things as well. It takes the lock file in it, which a second process
// finds taken and says so; it makes deed.db, for nobody else to
// read, and brings its tables up to date. One connection writes, a few read. When
// the process dies the system frees the lock, and the next one finds what was
// committed.
package sqlite
