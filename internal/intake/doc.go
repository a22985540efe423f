// Package intake takes in what systems of record say: facts, and up to when a
// source's facts are complete.
//
// It never looks for the actions that a fact belongs to. It keeps the fact with a
// wake, and internal/settlement does the rest, so that whoever brings evidence waits
// for nobody. It knows no SQL and no HTTP.
//
// # Life of a fact
//
// A shop's billing job pushes {"facts": [{"source": "stripe", …}]} with a key that is
// bound to stripe. [Parse] reads the facts strictly: unlike what an agent declares, a
// fact that cannot be read is refused, with its index and the member that is wrong,
// because whoever sends it can be told to send it better and nothing is lost.
// [Service.Push] sees that the key may write facts of that source, that the source is
// there, and that it provides facts of this type, and keeps all facts or none. Of each
// it says whether it is new: the same content again is the same fact, another content
// of the same identity is a revision. Each new one leaves a wake. When the job has
// pushed everything up to noon, it says so ([Service.PutWatermarks]): from then on
// that there is no other refund means that there was none.
package intake
