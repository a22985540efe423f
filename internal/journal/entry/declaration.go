package entry

// The reasons of an intent. The first three begin one, the others say how one
// went. One that is declaring is in the outbox until an entry says otherwise:
// both are written at once, so that no crash parts them.
const (
	IntentDeclaring    = "declaring"    // it is being declared, and will be later if that fails now
	IntentRequired     = "required"     // likewise, and its call waits for it: what fails is never tried again
	IntentUndeclarable = "undeclarable" // a mapped call that cannot be declared; its detail says why

	IntentDeclared      = "declared"      // the server has it
	IntentFailed        = "failed"        // not now; it stays in the outbox
	IntentUndeliverable = "undeliverable" // the server will not take it, or the time is up; it stays for people to see
	IntentRefused       = "refused"       // its call was kept from the server, so that there is nothing to declare
)

// Declaration is what the detail of an intent says.
type Declaration struct {
	// Of an intent that begins.
	Action   string `json:"action,omitempty"`   // id of the action
	Contract string `json:"contract,omitempty"` // its id
	Subject  string `json:"subject,omitempty"`  // its id
	API      string `json:"api,omitempty"`      // the address that it is declared to
	Key      string `json:"key,omitempty"`      // a fingerprint of the key that it is declared with

	// Of one that cannot be declared.
	Path string `json:"path,omitempty"` // where in the params

	// Of one that says how another went.
	Status   int64  `json:"status,omitempty"`   // of the answer; 0 where there was none
	Recorded string `json:"recorded,omitempty"` // new, replayed or changed
	Again    int64  `json:"again,omitempty"`    // when it is tried again, µs since 1970

	Why string `json:"why,omitempty"` // a word or a sentence, without anything of a credential
}
