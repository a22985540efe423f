package faulty

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// directory fails by the plan where it writes. What only reads is as it was.
type directory struct {
	store.Directory
	of *Store
}

// write runs a method that writes.
func write[T any](d *directory, w access.WorkspaceID, method func() (T, error)) (T, error) {
	var none T
	fault := d.of.fault(w, true)
	if fault == Lost {
		return none, unavailable()
	}
	got, err := method()
	if err == nil && fault == Kept {
		return none, unavailable()
	}
	return got, err
}

// only is [write] for a method that returns nothing else.
func only(d *directory, w access.WorkspaceID, method func() error) error {
	_, err := write(d, w, func() (struct{}, error) { return struct{}{}, method() })
	return err
}

func (d *directory) CreateWorkspace(ctx context.Context, w store.Workspace, owner store.Person, link store.SignIn, onlyFirst bool) (bool, error) {
	return write(d, w.ID, func() (bool, error) { return d.Directory.CreateWorkspace(ctx, w, owner, link, onlyFirst) })
}

func (d *directory) DeleteWorkspace(ctx context.Context, w access.WorkspaceID) error {
	return only(d, w, func() error { return d.Directory.DeleteWorkspace(ctx, w) })
}

func (d *directory) AddSession(ctx context.Context, s access.Session, h store.TokenHash) error {
	return only(d, s.Workspace, func() error { return d.Directory.AddSession(ctx, s, h) })
}

func (d *directory) EndSession(ctx context.Context, id access.SessionID, at value.Instant) error {
	return only(d, "", func() error { return d.Directory.EndSession(ctx, id, at) })
}

func (d *directory) ConfirmSession(ctx context.Context, id access.SessionID, at value.Instant) error {
	return only(d, "", func() error { return d.Directory.ConfirmSession(ctx, id, at) })
}

func (d *directory) UseSignIn(ctx context.Context, h store.TokenHash, at value.Instant) (store.SignIn, error) {
	return write(d, "", func() (store.SignIn, error) { return d.Directory.UseSignIn(ctx, h, at) })
}

func (d *directory) PutPerson(ctx context.Context, p store.Person) error {
	return only(d, "", func() error { return d.Directory.PutPerson(ctx, p) })
}

func (d *directory) Expire(ctx context.Context, before value.Instant) error {
	return only(d, "", func() error { return d.Directory.Expire(ctx, before) })
}

func (d *directory) SetMeta(ctx context.Context, name, text string) (string, error) {
	return write(d, "", func() (string, error) { return d.Directory.SetMeta(ctx, name, text) })
}
