package api

import (
	"context"
	"net/http"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/view"
)

// Workspaces are the settings of the principal's workspace; see [account.Service]
// for the errors.
type Workspaces interface {
	Workspace(ctx context.Context, p access.Principal) (*store.Workspace, error)
	ChangeSettings(ctx context.Context, p access.Principal, change account.Settings) (*store.Workspace, error)
	Delete(ctx context.Context, p access.Principal, confirmation string) error
}

type workspaceOnly struct {
	Workspace view.Workspace `json:"workspace"`
}

func getWorkspace(c *call) (reply, error) {
	w, err := c.services.Workspaces.Workspace(c.ctx, c.principal)
	if err != nil {
		return reply{}, err
	}
	return answered(workspaceOnly{view.WorkspaceOf(w)}, nil)
}

type changedWorkspace struct {
	Name         *string `json:"name,omitzero"`
	Development  *bool   `json:"development,omitzero"`
	SecondMember *bool   `json:"second_member,omitzero"`
}

func changeWorkspace(c *call, in *changedWorkspace) (reply, error) {
	w, err := c.services.Workspaces.ChangeSettings(c.ctx, c.principal, account.Settings(*in))
	if err != nil {
		return reply{}, err
	}
	return answered(workspaceOnly{view.WorkspaceOf(w)}, nil)
}

var confirmParam = param{name: "confirm", about: "the name of the workspace", required: true}

func deleteWorkspace(c *call) (reply, error) {
	return reply{status: http.StatusNoContent}, c.services.Workspaces.Delete(c.ctx, c.principal, c.query.text("confirm"))
}
