package archive

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/view"
)

// Count is how many lines of each kind an export has.
type Count struct {
	Members      int64 `json:"members"`
	Keys         int64 `json:"keys"`
	Sources      int64 `json:"sources"`
	Contracts    int64 `json:"contracts"`
	Actions      int64 `json:"actions"`
	Declarations int64 `json:"declarations"`
	Verdicts     int64 `json:"verdicts"`
	Facts        int64 `json:"facts"`
	Audit        int64 `json:"audit"`
	Leaves       int64 `json:"leaves"`
}

// pageRows is how much is read at once.
const pageRows = 200

// Export writes everything that a workspace has, as it stands at one moment: one
// JSON object a line, whose member kind says what it is. The first line says which
// workspace, the last how many lines of each kind there were, so that an export
// that was broken off shows. It holds no secret.
func Export(ctx context.Context, s store.Store, w access.WorkspaceID, release string, to io.Writer) (Count, error) {
	var count Count
	buffered := bufio.NewWriterSize(to, 1<<16)
	err := s.View(ctx, w, func(tx store.Tx) error {
		e := &export{tx: tx, to: buffered, count: &count}
		for _, part := range []func() error{
			func() error { return e.head(release) },
			e.people, e.contracts, e.actions, e.facts, e.audit, e.ledger,
			func() error {
				return e.line(endLine{Kind: "end", Lines: count})
			},
		} {
			if err := part(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return count, fmt.Errorf("export the workspace: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return count, fmt.Errorf("write the export: %w", err)
	}
	return count, nil
}

type headLine struct {
	Kind      string         `json:"kind"`
	Format    int            `json:"format"`
	Release   string         `json:"release"`
	At        value.Instant  `json:"at"`
	Workspace view.Workspace `json:"workspace"`
}

type endLine struct {
	Kind  string `json:"kind"`
	Lines Count  `json:"lines"`
}

// export is one run of [Export].
type export struct {
	tx    store.Tx
	to    *bufio.Writer
	count *Count
}

func (e *export) line(content any) error {
	text, err := json.Marshal(content, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	_, err = e.to.Write(append(text, '\n'))
	return err
}

func (e *export) head(release string) error {
	w, err := e.tx.GetWorkspace()
	if err != nil {
		return err
	}
	return e.line(headLine{Kind: "export", Format: format, Release: release, At: e.tx.Now(), Workspace: view.WorkspaceOf(w)})
}

func (e *export) people() error {
	members, err := e.tx.ListMembers()
	if err != nil {
		return err
	}
	for i := range members {
		e.count.Members++
		if err := e.line(struct {
			Kind   string      `json:"kind"`
			Member view.Member `json:"member"`
		}{"member", view.MemberOf(&members[i])}); err != nil {
			return err
		}
	}
	keys, err := e.tx.ListKeys()
	if err != nil {
		return err
	}
	for i := range keys {
		e.count.Keys++
		if err := e.line(struct {
			Kind string   `json:"kind"`
			Key  view.Key `json:"key"`
		}{"key", view.KeyOf(&keys[i], e.tx.Now())}); err != nil {
			return err
		}
	}
	sources, err := e.tx.SourceStates()
	if err != nil {
		return err
	}
	for i := range sources {
		e.count.Sources++
		if err := e.line(struct {
			Kind   string      `json:"kind"`
			Source view.Source `json:"source"`
		}{"source", view.SourceOf(&sources[i])}); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) contracts() error {
	versions, err := e.tx.ContractVersions("", true)
	if err != nil {
		return err
	}
	for i := range versions {
		e.count.Contracts++
		if err := e.line(struct {
			Kind    string       `json:"kind"`
			Version view.Version `json:"version"`
			YAML    string       `json:"yaml"`
		}{"contract", view.VersionOf(&versions[i]), versions[i].Text}); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) actions() error {
	page := store.Page{Limit: pageRows}
	for {
		listed, next, err := e.tx.ListActions(store.Filter{}, page)
		if err != nil {
			return err
		}
		for i := range listed {
			if err := e.action(&listed[i]); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		page.After = next
	}
}

// raw is a JSON value as it came; none where it was erased.
func raw(text []byte) jsontext.Value { return jsontext.Value(text) }

func (e *export) action(l *store.Listed) error {
	e.count.Actions++
	ref := l.Action.Ref
	if err := e.line(struct {
		Kind    string         `json:"kind"`
		Ref     store.Ref      `json:"ref"`
		Version int            `json:"contract_version,omitzero"`
		Mode    verdict.Mode   `json:"mode,omitzero"`
		Verdict jsontext.Value `json:"verdict"`
	}{"action", ref, l.Action.Version, l.Action.Mode, raw(l.Verdict.AppendJSON(nil))}); err != nil {
		return err
	}
	declared, err := e.tx.Declarations(ref)
	if err != nil {
		return err
	}
	for i := range declared {
		d := &declared[i]
		e.count.Declarations++
		if err := e.line(struct {
			Kind         string         `json:"kind"`
			Ref          store.Ref      `json:"ref"`
			Revision     int            `json:"revision"`
			ActionID     string         `json:"action_id"`
			ReceivedAt   value.Instant  `json:"received_at"`
			By           access.Actor   `json:"declared_by"`
			SelfAttested bool           `json:"self_attested,omitzero"`
			Body         jsontext.Value `json:"body,omitzero"`
		}{"declaration", ref, d.Revision, d.Declaration.ActionID, d.Declaration.ReceivedAt, d.By, d.SelfAttested, raw(d.Body)}); err != nil {
			return err
		}
	}
	settled, err := e.tx.Settled(ref)
	if err != nil {
		return err
	}
	for i := range settled {
		e.count.Verdicts++
		if err := e.line(struct {
			Kind    string         `json:"kind"`
			Ref     store.Ref      `json:"ref"`
			Verdict jsontext.Value `json:"verdict"`
			Case    jsontext.Value `json:"case,omitzero"`
		}{"verdict", ref, raw(settled[i].Verdict.AppendJSON(nil)), raw(settled[i].Case)}); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) facts() error {
	page := store.Page{Limit: pageRows}
	for {
		facts, next, err := e.tx.ListFacts(store.FactFilter{}, page)
		if err != nil {
			return err
		}
		for i := range facts {
			e.count.Facts++
			if err := e.line(struct {
				Kind string         `json:"kind"`
				Fact view.Fact      `json:"fact"`
				Body jsontext.Value `json:"body,omitzero"`
			}{"fact", view.FactOf(&facts[i]), raw(facts[i].Body)}); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		page.After = next
	}
}

func (e *export) audit() error {
	page := store.Page{Limit: pageRows}
	for {
		entries, next, err := e.tx.ListAudit(page)
		if err != nil {
			return err
		}
		for i := range entries {
			e.count.Audit++
			if err := e.line(struct {
				Kind  string          `json:"kind"`
				Entry view.AuditEntry `json:"entry"`
			}{"audit", view.AuditEntryOf(&entries[i])}); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		page.After = next
	}
}

func (e *export) ledger() error {
	state, err := e.tx.LedgerState()
	if err != nil {
		return err
	}
	for from := int64(0); from < state.Size; from += pageRows {
		leaves, err := e.tx.Leaves(from, min(from+pageRows, state.Size))
		if err != nil {
			return err
		}
		for i := range leaves {
			e.count.Leaves++
			if err := e.line(struct {
				Kind string    `json:"kind"`
				Leaf view.Leaf `json:"leaf"`
			}{"leaf", view.LeafOf(&leaves[i])}); err != nil {
				return err
			}
		}
	}
	if state.Size == 0 {
		return nil
	}
	return e.line(struct {
		Kind       string `json:"kind"`
		Size       int64  `json:"size"`
		Checkpoint string `json:"checkpoint"`
	}{"checkpoint", state.Size, string(state.Checkpoint)})
}
