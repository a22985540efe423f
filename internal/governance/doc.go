// Package governance keeps the contracts of a workspace: who may change them, what
// a change lets through, and from when on a version governs.
//
// A version's text never changes, and a version governs once, for one span of time:
// actions are judged for good by the version that was active when they were
// received. So nothing here evaluates anything anew, and a version that has governed
// comes back as a new version with the same text. The package speaks to a store and
// knows neither HTTP nor SQL. Who may do what is for package access to say; what is
// weaker, for package weakening.
//
// # Life of a version
//
// A program in a build sends a contract with a key that may only draft: [Service.Propose]
// compiles it and keeps it as version 4, a draft. The payments lead reads what
// [Service.Diff] says against version 3, one window is wider, and [Service.Approve]s
// it. An admin [Service.Activate]s it: since it is weaker than what governs, and the
// workspace wants a second member behind that, the lead's approval is what lets it
// through. It adds a rolling limit that no version had, so that what was declared
// within its span is added up first. Then, in one unit, version 3 ends, version 4
// governs, the audit says who did it, and a leaf of the ledger says when. Actions of
// version 3 are judged by version 3 as long as there are any.
package governance
