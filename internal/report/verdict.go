package report

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Verdicts are what actions came to at one time, and the effects that none of
// them claims.
type Verdicts struct {
	At       value.Instant
	Verdicts []verdict.Verdict
	Orphans  []Orphan
	// Detailed adds what the reasons mean, what to do next and the evidence.
	Detailed bool
}

// Orphan is an effect that a contract looks for and no action claims.
type Orphan struct {
	ContractID string
	Fact       evidence.Fact
}

// Worst is the worst badge that any action has: FAIL, then UNKNOWN, then PASS.
// It is UNKNOWN where there are no actions.
func (v *Verdicts) Worst() verdict.Result {
	worst := verdict.Pass
	if len(v.Verdicts) == 0 {
		return verdict.Unknown
	}
	for i := range v.Verdicts {
		if gravity(v.Verdicts[i].Badge) < gravity(worst) {
			worst = v.Verdicts[i].Badge
		}
	}
	return worst
}

// gravity puts what went wrong first.
func gravity(r verdict.Result) int {
	return slices.Index([]verdict.Result{verdict.Fail, verdict.Unknown, verdict.Pass, verdict.NotApplicable}, r)
}

// ordered are the verdicts with the worst first, else in the order of their
// ids.
func (v *Verdicts) ordered() []verdict.Verdict {
	ordered := slices.Clone(v.Verdicts)
	slices.SortFunc(ordered, func(a, b verdict.Verdict) int {
		return cmp.Or(cmp.Compare(gravity(a.Badge), gravity(b.Badge)), cmp.Compare(a.ActionID, b.ActionID))
	})
	return ordered
}

// EvaluationDocument is what actions came to, as JSON.
type EvaluationDocument struct {
	Kind     string            `json:"kind"`     // "evaluation"
	At       string            `json:"at"`       // the time of which everything known counts
	Pass     int64             `json:"pass"`     // actions whose badge is PASS
	Fail     int64             `json:"fail"`     // the same for FAIL
	Unknown  int64             `json:"unknown"`  // the same for UNKNOWN
	Verdicts []json.RawMessage `json:"verdicts"` // FAIL first, then UNKNOWN, then PASS
	Orphans  []OrphanDocument  `json:"orphans"`  // effects that no action claims, the earliest first
}

// OrphanDocument is an effect that a contract looks for and no action claims.
type OrphanDocument struct {
	ContractID  string `json:"contract_id"`  // of the contract that looks for it
	Source      string `json:"source"`       // that tells of it
	Type        string `json:"type"`         // of the fact
	ExternalID  string `json:"external_id"`  // the source's own
	SubjectID   string `json:"subject_id"`   // empty if it names none
	SubjectKind string `json:"subject_kind"` // empty if it names none
	Actor       string `json:"actor"`        // who did it; empty if it is not said
	OccurredAt  string `json:"occurred_at"`  // by the source's clock
}

// Document is the answer for programs.
func (v *Verdicts) Document() any {
	d := EvaluationDocument{Kind: "evaluation", At: v.At.String(), Verdicts: []json.RawMessage{}, Orphans: []OrphanDocument{}}
	for _, one := range v.ordered() {
		switch one.Badge {
		case verdict.Pass:
			d.Pass++
		case verdict.Fail:
			d.Fail++
		default:
			d.Unknown++
		}
		d.Verdicts = append(d.Verdicts, one.AppendJSON(nil))
	}
	for _, o := range v.Orphans {
		f := &o.Fact
		d.Orphans = append(d.Orphans, OrphanDocument{
			ContractID: o.ContractID, Source: f.Source, Type: f.Type, ExternalID: f.ExternalID,
			SubjectID: f.SubjectID, SubjectKind: f.SubjectKind, Actor: f.Actor(), OccurredAt: f.OccurredAt.String(),
		})
	}
	return d
}

// instant writes a moment of the evidence, always with its date: it is held
// next to other systems.
func (v View) instant(at value.Instant) string {
	if at == 0 {
		return "never"
	}
	text := v.Clock.Dated(at.Time())
	if at%value.Second != 0 {
		text = at.Time().In(v.Clock.Zone).Format("2006-01-02 15:04:05.999999")
	}
	return text
}
