package access

import "fmt"

// Role is what a member is in a workspace. A higher role may do whatever a lower
// one may, so that roles can be compared.
type Role uint8

// The roles. The zero Role is none of them and may do nothing.
const (
	Viewer  Role = iota + 1 // reads
	Analyst                 // also declares, drafts, reconciles, disputes
	Admin                   // also activates contracts, manages keys, connections, members
	Owner                   // also changes what protects the workspace, deletes it, hands it over
)

var roleNames = [...]string{Viewer: "viewer", Analyst: "analyst", Admin: "admin", Owner: "owner"}

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Owner; r++ {
		if roleNames[r] == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("there is no role %q", name)
}

func (r Role) known() bool { return r >= Viewer && r <= Owner }

// String is the role's name.
func (r Role) String() string {
	if !r.known() {
		return "none"
	}
	return roleNames[r]
}

// MarshalText writes the name.
func (r Role) MarshalText() ([]byte, error) {
	if !r.known() {
		return nil, fmt.Errorf("write role %d: there is no such role", uint8(r))
	}
	return []byte(roleNames[r]), nil
}

// UnmarshalText reads what [ParseRole] reads.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

// Scopes are those that a member in this role may hold.
func (r Role) Scopes() Scopes {
	switch {
	case !r.known():
		return Scopes{}
	case r == Viewer:
		return ReadScopes()
	}
	return AllScopes()
}

// Grantable are the scopes that a member in this role may give to a client that
// a model drives. A consent page offers these and no others.
func (r Role) Grantable() Scopes { return r.Scopes().Without(FactsWrite) }
