package access

import (
	"fmt"
	"strings"
)

// Scope is one thing that a credential may be used for. No scope lets anybody
// save or activate a contract, change a verdict, delete, or read a credential.
type Scope uint8

// The scopes. The zero Scope is none of them.
const (
	ActionsRead Scope = iota + 1
	ActionsRecord
	FactsWrite
	ContractsRead
	ContractsValidate
	ContractsDraft
	ReconcileRead
	ConnectorsRead
	UsageRead
	scopesEnd
)

var scopeNames = [scopesEnd]string{
	ActionsRead: "actions:read", ActionsRecord: "actions:record", FactsWrite: "facts:write",
	ContractsRead: "contracts:read", ContractsValidate: "contracts:validate", ContractsDraft: "contracts:draft",
	ReconcileRead: "reconcile:read", ConnectorsRead: "connectors:read", UsageRead: "usage:read",
}

// ParseScope reads a scope's name.
func ParseScope(name string) (Scope, error) {
	for s := ActionsRead; s < scopesEnd; s++ {
		if scopeNames[s] == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("there is no scope %q", name)
}

func (s Scope) known() bool { return s > 0 && s < scopesEnd }

// Reads says that the scope only shows what is recorded. Validating and drafting
// save nothing, but they make the server work, and are not for viewers.
func (s Scope) Reads() bool { return ReadScopes().Has(s) }

// Writes says that the scope adds to what is recorded.
func (s Scope) Writes() bool { return s == ActionsRecord || s == FactsWrite }

// String is the scope's name, as OAuth and the API write it.
func (s Scope) String() string {
	if !s.known() {
		return "none"
	}
	return scopeNames[s]
}

// MarshalText writes the name.
func (s Scope) MarshalText() ([]byte, error) {
	if !s.known() {
		return nil, fmt.Errorf("write scope %d: there is no such scope", uint8(s))
	}
	return []byte(scopeNames[s]), nil
}

// UnmarshalText reads what [ParseScope] reads.
func (s *Scope) UnmarshalText(text []byte) (err error) {
	*s, err = ParseScope(string(text))
	return err
}

// Scopes is a set of scopes. Sets are values and can be compared with ==.
type Scopes struct{ bits uint16 }

// ScopesOf is the set of these scopes.
func ScopesOf(scopes ...Scope) Scopes {
	var set Scopes
	for _, s := range scopes {
		if s.known() {
			set.bits |= 1 << s
		}
	}
	return set
}

// AllScopes is every scope there is.
func AllScopes() Scopes { return Scopes{bits: 1<<scopesEnd - 1<<ActionsRead} }

// ReadScopes are those that a viewer may hold.
func ReadScopes() Scopes {
	return ScopesOf(ActionsRead, ContractsRead, ReconcileRead, ConnectorsRead, UsageRead)
}

// Has says that the set contains the scope.
func (set Scopes) Has(s Scope) bool { return s.known() && set.bits&(1<<s) != 0 }

// And is what both sets contain.
func (set Scopes) And(other Scopes) Scopes { return Scopes{bits: set.bits & other.bits} }

// Without is the set less one scope.
func (set Scopes) Without(s Scope) Scopes { return Scopes{bits: set.bits &^ ScopesOf(s).bits} }

// IsEmpty says that the set contains nothing.
func (set Scopes) IsEmpty() bool { return set.bits == 0 }

// writes says that one of the scopes adds to what is recorded.
func (set Scopes) writes() bool { return set.Has(ActionsRecord) || set.Has(FactsWrite) }

// attestsToItself says that whoever holds the set could declare an action and
// then write the fact that proves it.
func (set Scopes) attestsToItself() bool { return set.Has(ActionsRecord) && set.Has(FactsWrite) }

// List has the scopes of the set in the order in which they are documented.
func (set Scopes) List() []Scope {
	var list []Scope
	for s := ActionsRead; s < scopesEnd; s++ {
		if set.Has(s) {
			list = append(list, s)
		}
	}
	return list
}

// String writes the set as OAuth does: names with a space between them,
// https://www.rfc-editor.org/rfc/rfc6749#section-3.3.
func (set Scopes) String() string {
	var names []string
	for _, s := range set.List() {
		names = append(names, s.String())
	}
	return strings.Join(names, " ")
}

// ParseScopes reads names with spaces between them, in any order. A name that is
// no scope is an error, so that a misspelt one is never granted as nothing.
func ParseScopes(text string) (Scopes, error) {
	var set Scopes
	for name := range strings.SplitSeq(text, " ") {
		if name == "" {
			continue
		}
		s, err := ParseScope(name)
		if err != nil {
			return Scopes{}, err
		}
		set.bits |= 1 << s
	}
	return set, nil
}
