// Package contract reads contracts: the YAML that says which facts must, may
// and must not follow an action, and what the action was allowed to be.
//
// [Parse] reports everything that is wrong with a text in one pass, each with
// its line, its column and what to write instead; what it returns without a
// problem is compiled, complete and never changed. The package decides nothing
// about an action: it knows no facts and no time.
//
// # Life of a contract
//
// A payments lead writes refund.yaml. [Parse] reads it against the table of
// [Keys], fills in what was left out, types every condition with the declared
// parameters, and finds that customer_told waits for a step that is spelled
// money_movd; line 27 is told so. The next version compiles, and its digest is
// what a verdict names. When an agent declares a refund of the number 18000,
// [Contract.Bind] makes 180.00 USD of it, because the parameter says
// `unit: minor` and names the currency beside it; and a declaration without a
// currency gets the default.
package contract
