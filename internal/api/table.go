package api

import (
	"net/http"
	"slices"

	"github.com/deed-dev/deed/internal/access"
)

// The methods, short, so that a row of the table is one.
const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

// What errors may be, beside those that every endpoint has.
var (
	missing  = []int{http.StatusNotFound}
	conflict = []int{http.StatusConflict}
	both     = []int{http.StatusNotFound, http.StatusConflict}
	// Of what a plan may leave out.
	missingOrPlan = []int{http.StatusPaymentRequired, http.StatusNotFound}
)

// table has every endpoint, in the order in which docs/api.md lists them.
func table() []endpoint {
	return slices.Concat(actionTable(), evidenceTable(), contractTable(), resultTable(), peopleTable(), workspaceTable(), ledgerTable(), serverTable())
}

func actionTable() []endpoint {
	return []endpoint{
		{
			method: post, path: "/v1/actions", summary: "declare one action", need: scoped(access.ActionsRecord),
			body: openBody[declaration](usualBytes), answers: createdOrOK[declared](), errors: conflict, serve: declareOne,
		},
		{
			method: post, path: "/v1/actions:batch", summary: "declare up to 1,000 at once", need: scoped(access.ActionsRecord),
			body: openBody[declarations](batchBytes), answers: ok[declaredBatch](), errors: conflict, serve: declareMany,
		},
		{
			method: get, path: "/v1/actions/{ref}", summary: "one action with its verdict and its history", need: scoped(access.ActionsRead),
			answers: ok[wholeAction](), errors: missing, serve: getAction,
		},
		{
			method: get, path: "/v1/actions", summary: "actions, by filters", need: scoped(access.ActionsRead),
			query:   paged(slices.Concat(actionFilters, []param{verdictParam, lensParam, statusParam, periodParam})...),
			answers: ok[actionList](), serve: listActions,
		},
		{
			method: get, path: "/v1/actions/pending", summary: "those that are not settled, and what they wait for", need: scoped(access.ActionsRead),
			query: paged(actionFilters...), answers: ok[pendingList](), serve: listPending,
		},
	}
}

func evidenceTable() []endpoint {
	// What systems of record say is more than the verdicts that follow from it: a key
	// that an agent has to declare with does not read it all.
	reading := scoped(access.ConnectorsRead).and(access.ActionsRead)
	return []endpoint{
		{
			method: post, path: "/v1/facts", summary: "tell up to 1,000 facts", need: scoped(access.FactsWrite),
			body: jsonBody[factsForm](batchBytes), answers: ok[told](), serve: pushFacts,
		},
		{
			method: get, path: "/v1/facts", summary: "facts, by filters", need: reading,
			query: paged(factFilters...), answers: ok[factList](), serve: listFacts,
		},
		{
			method: get, path: "/v1/facts/{source}/{family}/{external_id}", summary: "one fact in all its revisions", need: reading,
			answers: ok[factRevisions](), errors: missing, serve: getFact,
		},
		{method: get, path: "/v1/sources", summary: "systems of record", need: scoped(access.ConnectorsRead), answers: ok[sourceList](), serve: listSources},
		{
			method: post, path: "/v1/sources", summary: "make one", need: permitted(access.ManageConnections),
			body: jsonBody[newSource](usualBytes), answers: created[sourceOnly](), errors: conflict, serve: with(createSource),
		},
		{
			method: get, path: "/v1/sources/{source}", summary: "one of them", need: scoped(access.ConnectorsRead),
			answers: ok[sourceOnly](), errors: missing, serve: getSource,
		},
		{
			method: patch, path: "/v1/sources/{source}", summary: "change it", need: permitted(access.ManageConnections),
			body: jsonBody[changedSource](usualBytes), answers: ok[sourceOnly](), errors: missing, serve: with(changeSource),
		},
		{
			method: put, path: "/v1/sources/{source}/watermark", summary: "say up to when its facts are complete", need: scoped(access.FactsWrite),
			body: jsonBody[watermarks](usualBytes), answers: ok[sourceOnly](), errors: missing, serve: with(putWatermarks),
		},
	}
}

func contractTable() []endpoint {
	return []endpoint{
		{
			method: get, path: "/v1/contracts", summary: "contracts, by id", need: scoped(access.ContractsRead),
			answers: ok[contractList](), serve: listContracts,
		},
		{
			method: post, path: "/v1/contracts", summary: "keep a text as the next version", need: permitted(access.SaveDraft).orProposal(),
			body: jsonBody[contractText](contractBytes), answers: createdOrOK[wholeVersion](), serve: with(saveContract),
		},
		{
			method: get, path: "/v1/contracts/{id}", summary: "one contract with its versions", need: scoped(access.ContractsRead),
			answers: ok[contractWithVersions](), errors: missing, serve: getContract,
		},
		{
			method: get, path: "/v1/contracts/{id}/versions", summary: "its versions", need: scoped(access.ContractsRead),
			answers: ok[versionsOnly](), errors: missing, serve: listVersions,
		},
		{
			method: get, path: "/v1/contracts/{id}/versions/{n}", summary: "a version: its text, its rules, and plain language",
			need: scoped(access.ContractsRead), answers: ok[wholeVersion](), errors: missing, serve: getVersion,
		},
		{
			method: get, path: "/v1/contracts/{id}/diff", summary: "what differs between two versions", need: scoped(access.ContractsRead),
			query: versionRange, answers: ok[difference](), errors: missing, serve: diffContract,
		},
		{
			method: post, path: "/v1/contracts/validate", summary: "what a text comes to; saves nothing", need: scoped(access.ContractsValidate),
			body: jsonBody[yamlText](contractBytes), answers: ok[validation](), serve: with(validateContract),
		},
		{
			method: post, path: "/v1/contracts/draft", summary: "a contract proposed from what was recorded", need: scoped(access.ContractsDraft),
			body: jsonBody[draftOrder](usualBytes), answers: ok[drafted](), errors: missingOrPlan, heavy: true, serve: with(draftContract),
		},
		{
			method: post, path: "/v1/contracts/dry-run", summary: "what actions would have come to under a version; keeps nothing",
			need: scoped(access.ContractsValidate), body: jsonBody[dryOrder](contractBytes), answers: ok[dryRun](), errors: missingOrPlan,
			heavy: true, serve: with(dryRunContract),
		},
		{
			method: post, path: "/v1/contracts/{id}/versions/{n}/approve", summary: "stand behind a draft", need: permitted(access.SaveDraft),
			answers: ok[versionOnly](), errors: both, serve: approveVersion,
		},
		{
			method: post, path: "/v1/contracts/{id}/versions/{n}/activate", summary: "let a version govern from now on",
			need: permitted(access.ActivateContract), body: jsonBody[activation](usualBytes), answers: ok[activated](), errors: missing,
			serve: with(activateVersion),
		},
		{
			method: post, path: "/v1/contracts/{id}/retire", summary: "let no version govern any more", need: permitted(access.ActivateContract),
			answers: ok[versionOnly](), errors: missing, serve: retireContract,
		},
	}
}

func resultTable() []endpoint {
	return []endpoint{
		{
			method: get, path: "/v1/summary", summary: "what actions came to, by contract", need: scoped(access.ActionsRead),
			query: append(slices.Clone(actionFilters), periodParam), answers: ok[summary](), heavy: true, serve: summarize,
		},
		{
			method: get, path: "/v1/orphans", summary: "effects of a contract that no action claims",
			need: scoped(access.ConnectorsRead).and(access.ActionsRead), query: paged(contractParam, periodParam),
			answers: ok[orphanList](), errors: missing, heavy: true, serve: listOrphans,
		},
		{
			method: get, path: "/v1/reason-codes", summary: "the registry of reason codes", need: nothing(),
			answers: ok[reasonCodes](), serve: listReasonCodes,
		},
	}
}

func peopleTable() []endpoint {
	return []endpoint{
		{
			method: post, path: "/v1/session", summary: "sign in", need: nothing(),
			body: jsonBody[signIn](usualBytes), answers: created[signedIn](), errors: signInErrors, serve: with(postSession),
		},
		{method: get, path: "/v1/session", summary: "who asks", need: anybody(), answers: ok[sessionOnly](), serve: getSession},
		{method: remove, path: "/v1/session", summary: "sign out", need: signedInMember(), answers: noContent(), serve: endSession},
		{
			method: post, path: "/v1/session/confirm", summary: "prove to be there", need: signedInMember(),
			body: jsonBody[proofOfPresence](usualBytes), answers: ok[confirmedUntil](), serve: with(confirmSession),
		},
		{
			method: post, path: "/v1/session/password", summary: "set a password", need: signedInMember(),
			body: jsonBody[newPassword](usualBytes), answers: created[signedIn](), serve: with(setPassword),
		},
		{method: get, path: "/v1/members", summary: "members of the workspace", need: signedInMember(), answers: ok[memberList](), serve: listMembers},
		{
			method: post, path: "/v1/members", summary: "invite", need: permitted(access.ManageMembers),
			body: jsonBody[invitation](usualBytes), answers: created[invited](), errors: conflict, serve: with(inviteMember),
		},
		{
			method: post, path: "/v1/members/{id}/link", summary: "a way back in", need: permitted(access.MakeLinks),
			answers: created[linkOnly](), errors: both, serve: linkMember,
		},
		{
			method: patch, path: "/v1/members/{id}", summary: "give another role", need: permitted(access.ManageMembers),
			body: jsonBody[newRole](usualBytes), answers: ok[memberOnly](), errors: both, serve: with(changeRole),
		},
		{
			method: remove, path: "/v1/members/{id}", summary: "remove", need: permitted(access.ManageMembers),
			answers: noContent(), errors: both, serve: removeMember,
		},
		{method: get, path: "/v1/keys", summary: "API keys", need: mayList(access.ManageKeys), answers: ok[keyList](), serve: listKeys},
		{
			method: post, path: "/v1/keys", summary: "make one", need: permitted(access.ManageKeys),
			body: jsonBody[keyOrder](usualBytes), answers: created[newKey](), serve: with(mintKey),
		},
		{
			method: post, path: "/v1/keys/{id}/rotate", summary: "replace one", need: permitted(access.ManageKeys),
			body: jsonBody[rotation](usualBytes), answers: created[newKey](), errors: missing, serve: with(rotateKey),
		},
		{
			method: remove, path: "/v1/keys/{id}", summary: "revoke one", need: permitted(access.ManageKeys),
			answers: noContent(), errors: missing, serve: revokeKey,
		},
	}
}

// signInErrors are those of an endpoint that no credential is needed for, and that
// tries one.
var signInErrors = []int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable}

func workspaceTable() []endpoint {
	return []endpoint{
		{method: get, path: "/v1/workspace", summary: "the workspace and its settings", need: anybody(), answers: ok[workspaceOnly](), serve: getWorkspace},
		{
			method: patch, path: "/v1/workspace", summary: "change settings", need: permitted(access.ChangeSettings),
			body: jsonBody[changedWorkspace](usualBytes), answers: ok[workspaceOnly](), serve: with(changeWorkspace),
		},
		{
			method: remove, path: "/v1/workspace", summary: "delete it with all that is in it", need: permitted(access.DeleteWorkspace),
			query: []param{confirmParam}, answers: noContent(), serve: deleteWorkspace,
		},
		{
			method: get, path: "/v1/usage", summary: "the plan, and how much of it a month has used", need: scoped(access.UsageRead),
			query: []param{monthParam}, answers: ok[usage](), serve: getUsage,
		},
		{
			method: get, path: "/v1/audit", summary: "who did what", need: permitted(access.ReadAudit),
			query: paged(), answers: ok[auditList](), serve: listAudit,
		},
	}
}

func ledgerTable() []endpoint {
	return []endpoint{
		{
			method: get, path: "/v1/ledger/checkpoint", summary: "size and root of the log, signed", need: scoped(access.ActionsRead),
			answers: ok[checkpoint](), errors: missing, serve: getCheckpoint,
		},
		{
			method: get, path: "/v1/ledger/proof", summary: "proof that a leaf is in it, or that it only grew", need: scoped(access.ActionsRead),
			query: proofParams, answers: ok[proof](), errors: missing, serve: getProof,
		},
		{
			method: get, path: "/v1/verify/{hash}", summary: "whether a digest is in it", need: scoped(access.ActionsRead),
			answers: ok[verified](), serve: verifyHash,
		},
	}
}

func serverTable() []endpoint {
	return []endpoint{
		{method: get, path: "/healthz", summary: "whether the process lives", answers: ok[liveness](), serve: healthz},
		{
			method: get, path: "/readyz", summary: "whether it can answer", answers: ok[liveness](),
			errors: []int{http.StatusServiceUnavailable}, serve: readyz,
		},
		{method: get, path: openAPIPath, summary: "this API for programs", page: true},
		{method: get, path: docsPath, summary: "this API for people", page: true},
	}
}
