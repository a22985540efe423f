// Package attack tries what a stranger, a guest with too little in hand, and
// somebody who has just begun would try on a server, and says what must come of it.
//
// It is for what goes across packages: who gets in by which door, what a start does
// to a folder, what a wrong setting is answered with. How one package bears bad
// input is tested beside it.
//
// # Life of a break-in
//
// A stranger sends wrong keys from an address, as fast as they can. The throttle
// holds them up. A recorder of the same office starts at this moment, with a right
// key that the server has not seen since its own start: it is let in, because
// nobody can guess a key, and because a stranger must not choose who works.
package attack
