package verdict

import "strconv"

// AppendJSON writes the verdict in its canonical form: members sorted by name,
// lists in their order, nothing that is empty unless it always stands there, no
// white space.
func (v *Verdict) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"action_id":`), v.ActionID)
	b = appendText(member(b, `"badge":`), v.Badge)
	b = appendText(member(b, `"case":`), v.Case)
	b = append(member(b, `"checks":`), '[')
	for i := range v.Checks {
		b = appendCheck(element(b), &v.Checks[i])
	}
	b = append(b, ']')
	if v.Compensation != nil {
		b = appendCompensation(member(b, `"compensation":`), v.Compensation)
	}
	b = appendLens(member(b, `"conformance":`), v.Conformance)
	b = optionalText(b, `"contract_digest":`, v.ContractDigest)
	b = optionalText(b, `"contract_id":`, v.ContractID)
	b = optionalInt(b, `"contract_version":`, v.ContractVersion)
	b = strconv.AppendBool(member(b, `"decided":`), v.Decided)
	b = strconv.AppendInt(member(b, `"engine":`), int64(v.Engine), 10)
	b = appendInstant(member(b, `"evaluated_at":`), v.EvaluatedAt)
	b = optionalText(b, `"mode":`, v.Mode)
	if len(v.Notes) > 0 {
		b = appendReasons(member(b, `"notes":`), v.Notes)
	}
	b = appendLens(member(b, `"outcome":`), v.Outcome)
	b = optionalInt(b, `"revision":`, v.Revision)
	b = optionalInstant(b, `"settled_at":`, v.SettledAt)
	b = appendInstant(member(b, `"settles_at":`), v.SettlesAt)
	b = appendText(member(b, `"status":`), v.Status)
	b = optionalText(b, `"supersedes":`, v.Supersedes)
	if v.VerifiedAmount != nil {
		b = appendAmount(member(b, `"verified_amount":`), *v.VerifiedAmount)
	}
	b = optionalWaits(b, v.Waits)
	return append(b, '}')
}

func appendLens(b []byte, l Lens) []byte {
	b = append(b, '{')
	b = appendTexts(member(b, `"codes":`), l.Codes)
	b = strconv.AppendBool(member(b, `"decided":`), l.Decided)
	b = appendText(member(b, `"result":`), l.Result)
	return append(b, '}')
}

func appendCheck(b []byte, c *Check) []byte {
	b = append(b, '{')
	b = strconv.AppendBool(member(b, `"final":`), c.Final)
	b = optionalInstant(b, `"from":`, c.From)
	b = appendText(member(b, `"id":`), c.ID)
	b = appendText(member(b, `"kind":`), c.Kind)
	b = appendText(member(b, `"lens":`), c.Lens)
	b = appendReasons(member(b, `"reasons":`), c.Reasons)
	b = appendText(member(b, `"result":`), c.Result)
	if len(c.Seen) > 0 {
		b = append(member(b, `"seen":`), '[')
		for i := range c.Seen {
			b = appendSeen(element(b), &c.Seen[i])
		}
		b = append(b, ']')
	}
	b = optionalInstant(b, `"until":`, c.Until)
	b = optionalWaits(b, c.Waits)
	return append(b, '}')
}

func appendReasons(b []byte, reasons []Reason) []byte {
	b = append(b, '[')
	for i := range reasons {
		r := &reasons[i]
		b = append(element(b), '{')
		b = optionalText(b, `"about":`, r.About)
		b = appendText(member(b, `"code":`), r.Code)
		b = optionalText(b, `"fact":`, r.Fact)
		b = optionalText(b, `"source":`, r.Source)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendSeen(b []byte, s *Seen) []byte {
	b = append(b, '{')
	b = appendText(member(b, `"external_id":`), s.ExternalID)
	b = appendText(member(b, `"link":`), s.Link)
	b = appendInstant(member(b, `"occurred_at":`), s.OccurredAt)
	b = optionalInt(b, `"revision":`, s.Revision)
	b = appendText(member(b, `"role":`), s.Role)
	b = appendText(member(b, `"source":`), s.Source)
	b = appendText(member(b, `"type":`), s.Type)
	return append(b, '}')
}

func optionalWaits(b []byte, waits []Wait) []byte {
	if len(waits) == 0 {
		return b
	}
	b = append(member(b, `"waits":`), '[')
	for i := range waits {
		w := &waits[i]
		b = append(element(b), '{')
		b = appendText(member(b, `"source":`), w.Source)
		b = appendText(member(b, `"type":`), w.Type)
		b = appendInstant(member(b, `"until":`), w.Until)
		b = optionalInstant(b, `"watermark":`, w.Watermark)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendCompensation(b []byte, c *Compensation) []byte {
	b = append(b, '{')
	if len(c.By) > 0 {
		b = appendCompensators(member(b, `"by":`), c.By)
	}
	if c.Net != nil {
		b = appendAmount(member(b, `"net":`), *c.Net)
	}
	b = optionalText(b, `"net_zero":`, c.NetZero)
	b = optionalText(b, `"of":`, c.Of)
	if len(c.Refused) > 0 {
		b = appendTexts(member(b, `"refused":`), c.Refused)
	}
	return append(b, '}')
}
