// Package explanation says in plain language what a contract demands.
//
// It is for the people who answer for a contract and do not read YAML: each rule
// of the compiled contract becomes numbered sentences, so that one can be quoted,
// and the defaults that nobody wrote down are said as well. Nothing is left out
// and nothing is added: what the sentences say follows from the compiled contract
// alone, never from its text. The package reads no file and knows no action.
//
// # Life of a sentence
//
// A contract says `where: fact.amount == params.amount`, `count: 1` and
// `within: 48h` of the step money_moved. [Explain] puts the check under what must
// be seen, and walks the condition (condition.go): "its amount equals the
// declared amount" would leave open whose, so it says "the fact's amount equals
// the declared amount". Of the count it says that a second one is a failure,
// which is what an exact number means. [Text.Plain] wraps the section for a
// terminal, [Text.Markdown] writes it for a document, and each sentence keeps the
// id money_moved and the keys that it speaks of, for programs.
package explanation
