package verdict

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
)

// AppendJSON writes the case in its canonical form: members sorted by name,
// lists in the order of docs/case.md, nothing that is empty, no white space.
// Cases that differ only in the order in which their facts came are written
// alike. Texts must be UTF-8; what is not becomes U+FFFD.
func (c *Case) AppendJSON(b []byte) []byte { return c.append(b, true) }

// append leaves the contract's text out for the digest, which covers the text
// by the contract's own digest.
func (c *Case) append(b []byte, text bool) []byte {
	b = append(b, '{')
	b = appendInstant(member(b, `"at":`), c.At)
	if c.Compensates != nil {
		b = appendTarget(member(b, `"compensates":`), c.Compensates)
	}
	if len(c.Compensators) > 0 {
		b = appendCompensators(member(b, `"compensators":`), c.Compensators)
	}
	b = append(member(b, `"declarations":`), '[')
	for i := range c.Declarations {
		b = appendDeclaration(element(b), &c.Declarations[i])
	}
	b = append(b, ']')
	b = strconv.AppendInt(member(b, `"engine":`), int64(c.Engine), 10)
	if len(c.Facts) > 0 {
		b = append(member(b, `"facts":`), '[')
		facts := inOrder(c.Facts, compareFacts)
		for i := range facts {
			b = appendFact(element(b), &facts[i])
		}
		b = append(b, ']')
	}
	if c.Governing != nil {
		b = appendGoverning(member(b, `"governing":`), c.Governing, text)
	}
	if len(c.History) > 0 {
		b = append(member(b, `"history":`), '[')
		history := inOrder(c.History, compareHistory)
		for i := range history {
			b = appendHistory(element(b), &history[i])
		}
		b = append(b, ']')
	}
	if c.Previous != nil {
		b = appendPrevious(member(b, `"previous":`), c.Previous)
	}
	if len(c.Rivals) > 0 {
		b = append(member(b, `"rivals":`), '[')
		rivals := inOrder(c.Rivals, compareRivals)
		for i := range rivals {
			b = appendDeclaration(element(b), &rivals[i])
		}
		b = append(b, ']')
	}
	if len(c.Shared) > 0 {
		b = append(member(b, `"shared":`), '[')
		for _, s := range inOrder(c.Shared, compareShared) {
			b = appendShared(element(b), &s)
		}
		b = append(b, ']')
	}
	if len(c.Sources) > 0 {
		b = appendSources(member(b, `"sources":`), c.Sources)
	}
	return append(b, '}')
}

func appendDeclaration(b []byte, d *Declaration) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"action_id":`), d.ActionID)
	b = optionalText(b, `"action_type":`, d.ActionType)
	b = optionalText(b, `"agent_id":`, d.AgentID)
	b = optionalText(b, `"channel":`, d.Channel)
	b = optionalText(b, `"compensates":`, d.Compensates)
	b = optionalText(b, `"contract_id":`, d.ContractID)
	b = optionalInt(b, `"contract_version":`, d.ContractVersion)
	b = optionalValues(b, `"params":`, d.Params)
	b = optionalInstant(b, `"proved_at":`, d.ProvedAt)
	b = appendInstant(member(b, `"received_at":`), d.ReceivedAt)
	b = optionalInstant(b, `"requested_at":`, d.RequestedAt)
	b = optionalText(b, `"subject_id":`, d.SubjectID)
	b = optionalText(b, `"subject_kind":`, d.SubjectKind)
	b = optionalText(b, `"workflow_id":`, d.WorkflowID)
	return append(b, '}')
}

func appendFact(b []byte, f *evidence.Fact) []byte {
	b = append(b, '{')
	b = optionalValues(b, `"attrs":`, f.Attrs)
	b = appendText(member(b, `"external_id":`), f.ExternalID)
	b = optionalInstant(b, `"ingested_at":`, f.IngestedAt)
	b = optionalText(b, `"mode":`, f.Mode)
	b = optionalInstant(b, `"observed_at":`, f.ObservedAt)
	b = appendInstant(member(b, `"occurred_at":`), f.OccurredAt)
	b = optionalText(b, `"payload":`, f.Payload)
	b = optionalRefs(b, `"refs":`, f.Refs)
	if f.Retracted {
		b = append(member(b, `"retracted":`), "true"...)
	}
	b = optionalInt(b, `"revision":`, f.Revision)
	b = appendText(member(b, `"source":`), f.Source)
	b = optionalText(b, `"subject_id":`, f.SubjectID)
	b = optionalText(b, `"subject_kind":`, f.SubjectKind)
	b = appendText(member(b, `"type":`), f.Type)
	return append(b, '}')
}

func appendSources(b []byte, list []evidence.Source) []byte {
	b = append(b, '[')
	sources := inOrder(list, compareSources)
	for i := range sources {
		b = appendSource(element(b), &sources[i])
	}
	return append(b, ']')
}

func appendSource(b []byte, s *evidence.Source) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"name":`), s.Name)
	if len(s.Provides) > 0 {
		provides := s.Provides
		if !slices.IsSorted(provides) {
			provides = slices.Sorted(slices.Values(provides))
		}
		b = appendTexts(member(b, `"provides":`), provides)
	}
	if s.Resolution != 0 {
		b = appendResolution(member(b, `"resolution":`), s.Resolution)
	}
	b = appendText(member(b, `"trust":`), s.Trust.String())
	b = optionalInstants(b, `"watermarks":`, s.Watermarks)
	return append(b, '}')
}

func appendGoverning(b []byte, g *Governing, text bool) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"digest":`), g.Contract.Digest)
	b = appendText(member(b, `"id":`), g.Contract.ID)
	b = appendText(member(b, `"mode":`), g.Mode)
	if text {
		b = appendText(member(b, `"text":`), g.Contract.Text)
	}
	b = strconv.AppendInt(member(b, `"version":`), int64(g.Version), 10)
	return append(b, '}')
}

func appendHistory(b []byte, h *History) []byte {
	b = append(b, '{')
	b = appendInstant(member(b, `"complete_to":`), h.CompleteTo)
	b = strconv.AppendInt(member(b, `"count":`), int64(h.Count), 10)
	// A window may begin in 1970, and then it does so at a time.
	b = appendMoment(member(b, `"from":`), h.From)
	b = appendText(member(b, `"limit":`), h.Limit)
	b = appendInstant(member(b, `"to":`), h.To)
	if len(h.Totals) > 0 {
		b = append(member(b, `"totals":`), '[')
		for _, total := range inOrder(h.Totals, func(x, y *money.Amount) int { return cmp.Compare(x.Currency, y.Currency) }) {
			b = appendAmount(element(b), total)
		}
		b = append(b, ']')
	}
	b = optionalInt(b, `"unvalued":`, h.Unvalued)
	return append(b, '}')
}

func appendShared(b []byte, s *Shared) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"action_id":`), s.ActionID)
	b = appendText(member(b, `"contract_id":`), s.ContractID)
	b = appendText(member(b, `"external_id":`), s.ExternalID)
	b = appendText(member(b, `"source":`), s.Source)
	b = appendText(member(b, `"type":`), s.Type)
	return append(b, '}')
}

func appendCompensators(b []byte, list []Compensator) []byte {
	b = append(b, '[')
	compensators := inOrder(list, compareCompensators)
	for i := range compensators {
		b = appendCompensator(element(b), &compensators[i])
	}
	return append(b, ']')
}

func appendCompensator(b []byte, c *Compensator) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"action_id":`), c.ActionID)
	b = appendText(member(b, `"contract_id":`), c.ContractID)
	b = appendInstant(member(b, `"declared_at":`), c.DeclaredAt)
	b = appendText(member(b, `"outcome":`), c.Outcome)
	b = appendText(member(b, `"status":`), c.Status)
	if c.Verified != nil {
		b = appendAmount(member(b, `"verified":`), *c.Verified)
	}
	return append(b, '}')
}

func appendTarget(b []byte, t *Target) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"action_id":`), t.ActionID)
	b = optionalText(b, `"by":`, t.By)
	if len(t.Chain) > 0 {
		b = appendTexts(member(b, `"chain":`), t.Chain)
	}
	if len(t.Earlier) > 0 {
		b = appendCompensators(member(b, `"earlier":`), t.Earlier)
	}
	return append(b, '}')
}

func appendPrevious(b []byte, p *Previous) []byte {
	b = append(b, '{')
	if len(p.Checks) > 0 {
		b = append(member(b, `"checks":`), '[')
		for i := range p.Checks {
			check := &p.Checks[i]
			b = append(element(b), '{')
			b = appendTexts(member(b, `"codes":`), check.Codes)
			b = appendText(member(b, `"id":`), check.ID)
			b = appendText(member(b, `"result":`), check.Result)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	b = appendText(member(b, `"conformance":`), p.Conformance)
	b = appendText(member(b, `"digest":`), p.Digest)
	b = appendText(member(b, `"outcome":`), p.Outcome)
	b = strconv.AppendInt(member(b, `"revision":`), int64(p.Revision), 10)
	b = appendInstant(member(b, `"settled_at":`), p.SettledAt)
	if len(p.Sources) > 0 {
		b = appendSources(member(b, `"sources":`), p.Sources)
	}
	return append(b, '}')
}
