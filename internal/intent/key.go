package intent

// Key is a key of mapping files. The table of them is what files are read by,
// and what the schema and the documentation are made from.
type Key struct {
	In       string // "" for the file itself, "tool" for what stands under a tool's name
	Name     string
	Kind     Kind
	Required bool
	MaxBytes int    // of a text; 0: as long as may be
	Default  string // in words; empty: it is left out
	Sentence string
}

// Kind is what stands behind a key.
type Kind string

// The kinds of values.
const (
	TextKind     Kind = "text"
	PathKind     Kind = "path"
	TemplateKind Kind = "template"
	IntegerKind  Kind = "integer"
	PathsKind    Kind = "paths" // an object of paths under names of the author's
	ToolsKind    Kind = "tools" // an object of tools under their names
)

// What the server takes. A declaration that has more is refused there, so it is
// better not to make it.
const (
	maxActionID  = 512
	maxText      = 256
	maxParams    = 200 // members
	maxParamsLen = 64 << 10
	// ownParams are mcp_tool and mcp_request_id.
	ownParams = 2
)

// Keys is the table of keys, in the order of the documentation.
func Keys() []Key {
	return []Key{
		{Name: "agent_id", Kind: TextKind, MaxBytes: maxText, Sentence: "Who acts. The flag --agent-id goes before it."},
		{Name: "workflow_id", Kind: TextKind, MaxBytes: maxText, Sentence: "What the actions are a part of. The flag --workflow-id goes before it."},
		{Name: "tools", Kind: ToolsKind, Required: true, Sentence: "The tools whose calls are declared, by name. A server's name and a dot may stand before a tool's."},

		{In: "tool", Name: "contract_id", Kind: TextKind, Required: true, MaxBytes: maxText, Sentence: "The contract that shall govern the action."},
		{In: "tool", Name: "contract_version", Kind: IntegerKind, Sentence: "The version that the author had in mind. It is noted and not obeyed."},
		{In: "tool", Name: "action_type", Kind: TextKind, MaxBytes: maxText, Sentence: "The type of the action, such as refund_order."},
		{In: "tool", Name: "subject", Kind: PathKind, Required: true, Sentence: "Where the call says what is acted on. A call without it is not declared."},
		{In: "tool", Name: "subject_kind", Kind: TextKind, MaxBytes: maxText, Sentence: "What kind of thing the subject is, such as order."},
		{In: "tool", Name: "params", Kind: PathsKind, Sentence: "The values that the contract looks at: a name and where the call has its value. What a call does not have is left out."},
		{In: "tool", Name: "action_id", Kind: TemplateKind, Default: "mcp:{tool}:{session}:{request id}", Sentence: "The action's id: a text with places in braces. A call without one of them is not declared."},
		{In: "tool", Name: "compensates", Kind: PathKind, Sentence: "Where the call says which action it undoes. What a call does not have is left out."},
	}
}

// keysIn are the keys of one place.
func keysIn(in string) []Key {
	var some []Key
	for _, k := range Keys() {
		if k.In == in {
			some = append(some, k)
		}
	}
	return some
}
