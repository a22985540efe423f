package demo

import "github.com/modelcontextprotocol/go-sdk/mcp"

// SafeCall decides for a program beside the demonstration what [Demo] decides
// for itself: whether a tool may be called although nobody asked for it, and
// with which arguments. Where it may not, the reason says why.
func SafeCall(tool *mcp.Tool) (values map[string]any, reason string) {
	if reason, safe := judge(tool); !safe {
		return nil, reason
	}
	return arguments(tool)
}
