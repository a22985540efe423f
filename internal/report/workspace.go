package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// Workspaces are the workspaces of a server.
type Workspaces struct{ List []Workspace }

// Workspace is one of them.
type Workspace struct {
	ID, Name, Plan string
	CreatedAt      time.Time
}

// WorkspacesDocument is all workspaces of a server.
type WorkspacesDocument struct {
	Workspaces []WorkspaceDocument `json:"workspaces"` // by their names
}

// WorkspaceDocument is one of them.
type WorkspaceDocument struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Plan      string `json:"plan"`
	CreatedAt string `json:"created_at"`
}

// Text is a table.
func (w *Workspaces) Text(View) string {
	if len(w.List) == 0 {
		return "there is no workspace yet\n"
	}
	var b strings.Builder
	for _, one := range w.List {
		fmt.Fprintf(&b, "%s  %s  plan %s  made %s\n", one.ID, terminal.Clean(one.Name), terminal.Clean(one.Plan), one.CreatedAt.UTC().Format(time.DateOnly))
	}
	return b.String()
}

// Document is what --json prints.
func (w *Workspaces) Document() any {
	d := WorkspacesDocument{Workspaces: []WorkspaceDocument{}}
	for _, one := range w.List {
		d.Workspaces = append(d.Workspaces, WorkspaceDocument{
			ID: one.ID, Name: one.Name, Plan: one.Plan, CreatedAt: one.CreatedAt.UTC().Format(time.RFC3339Nano),
		})
	}
	return d
}
