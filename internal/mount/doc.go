// Package mount says whether a folder is on another machine.
//
// Databases and their locks need a file system that does what it says. Those that
// reach over a network often do not, and damage shows long after. Whoever keeps a
// database in a folder asks here first and refuses. The package opens nothing and
// decides nothing; what it cannot find out counts as local.
//
// # Life of a question
//
// Somebody sets the folder of a journal to /mnt/box/deed. The system says that it
// is a FUSE mount, which may be a local disk or another machine; the mount table
// says fuse.sshfs, so the answer is "sshfs", and the journal is not opened there.
package mount
