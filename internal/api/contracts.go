package api

import (
	"context"
	"net/http"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/view"
)

// ContractReader shows contracts; see [governance.Service] for the errors.
type ContractReader interface {
	List(ctx context.Context, p access.Principal) ([]governance.Summary, error)
	Versions(ctx context.Context, p access.Principal, contractID string) ([]store.ContractVersion, error)
	Get(ctx context.Context, p access.Principal, contractID string, version int) (*governance.Read, error)
	Diff(ctx context.Context, p access.Principal, contractID string, from, to int) (*governance.Difference, error)
}

// ContractAuthor tries contracts and keeps drafts.
type ContractAuthor interface {
	Validate(ctx context.Context, p access.Principal, yaml []byte) (*governance.Validation, error)
	Draft(ctx context.Context, p access.Principal, o governance.DraftOrder) (*governance.Drafted, error)
	Save(ctx context.Context, p access.Principal, yaml []byte, note string) (*governance.Saved, error)
	Propose(ctx context.Context, p access.Principal, yaml []byte, note string) (*governance.Saved, error)
}

// ContractOwner decides which version governs.
type ContractOwner interface {
	Approve(ctx context.Context, p access.Principal, contractID string, version int) (*store.ContractVersion, error)
	Activate(ctx context.Context, p access.Principal, contractID string, version int, mode verdict.Mode) (*governance.Activated, error)
	Retire(ctx context.Context, p access.Principal, contractID string) (*store.ContractVersion, error)
}

type contractList struct {
	Contracts []view.Contract `json:"contracts"`
}

func listContracts(c *call) (reply, error) {
	found, err := c.services.ContractReader.List(c.ctx, c.principal)
	list := contractList{Contracts: make([]view.Contract, 0, len(found))}
	for i := range found {
		s := &found[i]
		list.Contracts = append(list.Contracts, view.ContractOf(&s.Latest, s.Active))
	}
	return answered(list, err)
}

type contractWithVersions struct {
	Contract view.Contract  `json:"contract"`
	Versions []view.Version `json:"versions" jsonschema:"the first first"`
}

func getContract(c *call) (reply, error) {
	versions, err := c.versions()
	if err != nil {
		return reply{}, err
	}
	return answered(contractWithVersions{
		Contract: view.ContractOf(&versions[len(versions)-1], view.ActiveOf(versions)), Versions: versionList(versions),
	}, nil)
}

type versionsOnly struct {
	Versions []view.Version `json:"versions" jsonschema:"the first first"`
}

func listVersions(c *call) (reply, error) {
	versions, err := c.versions()
	return answered(versionsOnly{versionList(versions)}, err)
}

func (c *call) versions() ([]store.ContractVersion, error) {
	return c.services.ContractReader.Versions(c.ctx, c.principal, c.path("id"))
}

func versionList(versions []store.ContractVersion) []view.Version {
	list := make([]view.Version, 0, len(versions))
	for i := range versions {
		list = append(list, view.VersionOf(&versions[i]))
	}
	return list
}

type wholeVersion struct {
	Recorded string         `json:"recorded,omitzero" jsonschema:"new or known, where it was saved"`
	Version  view.Version   `json:"version"`
	YAML     string         `json:"yaml"`
	Rules    *view.Rules    `json:"rules"`
	Plain    []view.Section `json:"plain" jsonschema:"the contract in plain language"`
	Page     string         `json:"page,omitzero" jsonschema:"for people, where it was saved"`
}

func getVersion(c *call) (reply, error) {
	n, err := c.number("n")
	if err != nil {
		return reply{}, err
	}
	read, err := c.services.ContractReader.Get(c.ctx, c.principal, c.path("id"), n)
	if err != nil {
		return reply{}, err
	}
	return answered(wholeVersion{
		Version: view.VersionOf(&read.Version), YAML: read.Version.Text,
		Rules: view.RulesOf(read.Contract), Plain: view.PlainOf(read.Text),
	}, nil)
}

type difference struct {
	ContractID string        `json:"contract_id"`
	From       int           `json:"from"`
	To         int           `json:"to"`
	Suspect    bool          `json:"suspect" jsonschema:"weaker, or not shown that it is not"`
	Changes    []view.Change `json:"changes"`
}

// mostVersions is more than any contract has.
const mostVersions = 1_000_000

var versionRange = []param{
	{name: "from", about: "a version", required: true, least: 1, most: mostVersions},
	{name: "to", about: "another one", required: true, least: 1, most: mostVersions},
}

func diffContract(c *call) (reply, error) {
	d, err := c.services.ContractReader.Diff(c.ctx, c.principal, c.path("id"), c.query.number("from"), c.query.number("to"))
	if err != nil {
		return reply{}, err
	}
	return answered(difference{
		ContractID: c.path("id"), From: d.From.Version, To: d.To.Version, Suspect: d.Weaker, Changes: view.ChangesOf(d.Changes),
	}, nil)
}

type contractText struct {
	YAML string `json:"yaml"`
	Note string `json:"note,omitzero" jsonschema:"what it is for"`
}

func saveContract(c *call, in *contractText) (reply, error) {
	save := c.services.ContractAuthor.Save
	if c.principal.Member() == "" {
		save = c.services.ContractAuthor.Propose
	}
	saved, err := save(c.ctx, c.principal, []byte(in.YAML), in.Note)
	if err != nil {
		return reply{}, err
	}
	v := &saved.Version
	r := reply{content: wholeVersion{
		Recorded: recordedKnown, Version: view.VersionOf(v), YAML: v.Text,
		Rules: view.RulesOf(saved.Contract), Plain: view.PlainText(saved.Contract), Page: c.options.Pages.Page(saved.Path),
	}}
	if saved.New {
		w := r.content.(wholeVersion)
		w.Recorded = recordedNew
		r = reply{status: http.StatusCreated, location: view.VersionPath(v.ContractID, v.Version), content: w}
	}
	return r, nil
}

// What became of something that was sent.
const (
	recordedNew   = "new"
	recordedKnown = "known"
)

type yamlText struct {
	YAML string `json:"yaml"`
}

type validation struct {
	Valid        bool                 `json:"valid"`
	Errors       []view.Problem       `json:"errors"`
	Warnings     []view.Problem       `json:"warnings"`
	Sources      []view.SourceProblem `json:"sources" jsonschema:"why a source cannot carry what the contract asks of it"`
	Rules        *view.Rules          `json:"rules,omitzero"`
	Plain        []view.Section       `json:"plain,omitempty"`
	ComparedWith int                  `json:"compared_with,omitzero" jsonschema:"the version that is active"`
	Suspect      bool                 `json:"suspect" jsonschema:"weaker than what governed, or not shown that it is not"`
	Changes      []view.Change        `json:"changes"`
}

func validateContract(c *call, in *yamlText) (reply, error) {
	v, err := c.services.ContractAuthor.Validate(c.ctx, c.principal, []byte(in.YAML))
	if err != nil {
		return reply{}, err
	}
	out := validation{
		Valid: v.Contract != nil, Errors: view.ProblemsOf(v.Problems), Warnings: view.ProblemsOf(v.Warnings),
		Suspect: v.Weaker, Changes: view.ChangesOf(v.Changes), Sources: []view.SourceProblem{},
	}
	for _, s := range v.Sources {
		out.Sources = append(out.Sources, view.SourceProblem(s))
	}
	if v.Contract != nil {
		out.Rules, out.Plain = view.RulesOf(v.Contract), view.PlainOf(v.Text)
	}
	if v.Against != nil {
		out.ComparedWith = v.Against.Version
	}
	return answered(out, nil)
}

type draftOrder struct {
	ActionType string `json:"action_type,omitzero" jsonschema:"of the actions; or"`
	ContractID string `json:"contract_id,omitzero" jsonschema:"the contract that they named"`
	Period     string `json:"period,omitzero" jsonschema:"last 30 days without it"`
}

type drafted struct {
	YAML       string           `json:"yaml"`
	Statistics draft.Statistics `json:"statistics"`
	Warnings   []draft.Warning  `json:"warnings"`
	Complete   bool             `json:"complete" jsonschema:"false: there was more than is read"`
}

// usualPeriod is what is looked at unless it is said.
const usualPeriod = "last 30 days"

func draftContract(c *call, in *draftOrder) (reply, error) {
	text := in.Period
	if text == "" {
		text = usualPeriod
	}
	span, err := period("period", text, c.at)
	if err != nil {
		return reply{}, err
	}
	d, err := c.services.ContractAuthor.Draft(c.ctx, c.principal, governance.DraftOrder{
		ActionType: in.ActionType, ContractID: in.ContractID, From: span.From, To: span.To,
	})
	if err != nil {
		return reply{}, nothingSeen(err)
	}
	return answered(drafted{YAML: d.YAML, Statistics: d.Statistics, Warnings: d.Warnings, Complete: !d.Truncated}, nil)
}

// nothingSeen says that there is nothing to draft from.
func nothingSeen(err error) error {
	if e, is := as[*draft.NothingSeenError](err); is {
		return &NotFoundError{What: "draft: " + e.Error()}
	}
	return err
}

type versionOnly struct {
	Version view.Version `json:"version"`
}

func approveVersion(c *call) (reply, error) {
	n, err := c.number("n")
	if err != nil {
		return reply{}, err
	}
	v, err := c.services.ContractOwner.Approve(c.ctx, c.principal, c.path("id"), n)
	if err != nil {
		return reply{}, err
	}
	return answered(versionOnly{view.VersionOf(v)}, nil)
}

type activation struct {
	Mode verdict.Mode `json:"mode"`
}

type activated struct {
	Recorded string        `json:"recorded" jsonschema:"new, or known if it governed in this mode already"`
	Version  view.Version  `json:"version"`
	Suspect  bool          `json:"suspect" jsonschema:"weaker than what governed, or not shown that it is not"`
	Changes  []view.Change `json:"changes"`
}

func activateVersion(c *call, in *activation) (reply, error) {
	n, err := c.number("n")
	if err != nil {
		return reply{}, err
	}
	a, err := c.services.ContractOwner.Activate(c.ctx, c.principal, c.path("id"), n, in.Mode)
	if err != nil {
		return reply{}, err
	}
	out := activated{Recorded: recordedKnown, Version: view.VersionOf(&a.Version), Suspect: a.Weaker, Changes: view.ChangesOf(a.Changes)}
	if a.New {
		out.Recorded = recordedNew
	}
	return answered(out, nil)
}

func retireContract(c *call) (reply, error) {
	v, err := c.services.ContractOwner.Retire(c.ctx, c.principal, c.path("id"))
	if err != nil {
		return reply{}, err
	}
	return answered(versionOnly{view.VersionOf(v)}, nil)
}
