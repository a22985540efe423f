package access

import "fmt"

// Preset is a named set of scopes for a new key.
type Preset string

// The presets.
const (
	RecorderPreset Preset = "recorder" // for what runs beside an agent
	EvidencePreset Preset = "evidence" // for what reports from named sources
	ReaderPreset   Preset = "reader"   // for dashboards and assistants
	FullPreset     Preset = "full"     // for development only
)

// Presets has all of them.
func Presets() []Preset { return []Preset{RecorderPreset, EvidencePreset, ReaderPreset, FullPreset} }

// Scopes are what a key of this preset holds.
func (p Preset) Scopes() (Scopes, error) {
	switch p {
	case RecorderPreset:
		return ScopesOf(ActionsRecord, ActionsRead), nil
	case EvidencePreset:
		return ScopesOf(FactsWrite, ActionsRead, ConnectorsRead), nil
	case ReaderPreset:
		return Scopes{bits: ReadScopes().bits | ScopesOf(ContractsValidate, ContractsDraft).bits}, nil
	case FullPreset:
		return AllScopes(), nil
	}
	return Scopes{}, fmt.Errorf("there is no preset %q", string(p))
}
