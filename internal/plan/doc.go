// Package plan reads plans: what whoever runs a server includes for a workspace,
// and what not.
//
// Plans are data. [Parse] reads the file in which they stand and says everything
// that is wrong with it, each with its line and column. A [Book] answers what the
// plan of a name comes to. A limit is there to be held against what was recorded,
// and never keeps anything from being recorded: evidence is not dropped. Only a
// feature that nothing is proved by can be left out.
//
// The package knows no store and no HTTP, keeps nothing, and decides nothing about
// who is on which plan.
//
// # Life of a plan
//
// An operator writes that the plan free includes 1,000 actions a month and no
// features, and that the plan team is the next one up. [Parse] reads it at the
// start of the server. A workspace on free declares its action number 1,001: it is
// recorded and verified, and its answer says that the allowance is used up. An
// analyst there asks for a draft of a contract; [Book.Require] refuses with a
// [RequiredError], which names team. Next month the operator takes free out of the
// file and leaves the workspace on it: from then on it has no limit and every
// feature, and the server says so when it starts.
package plan
