package api

// Services are what the surface asks. All of them are needed.
type Services struct {
	Authenticator
	Readiness      Readiness
	ActionRecorder ActionRecorder
	ActionReader   ActionReader
	Trials         Trials
	Facts          Facts
	Sources        Sources
	ContractReader ContractReader
	ContractAuthor ContractAuthor
	ContractOwner  ContractOwner
	Ledger         Ledger
	Sessions       Sessions
	Members        Members
	Keys           Keys
	Workspaces     Workspaces
	Trail          Trail
}
