package verdict

import (
	"github.com/deed-dev/deed/internal/contract"
)

// quorum concludes a step that different sources must confirm: each source is
// asked alone, and their answers are put together.
func (t *trial) quorum(step *contract.Step, s *scope, f *finding) {
	var confirmed, silent, contrary int
	var first *finding // the first source's answer that is a failure
	var waits []Wait
	open, final := false, true
	answers := make([]finding, len(s.o.From))
	for i, name := range s.o.From {
		alone := s.o
		only := *alone
		only.From = []string{name}
		narrowed := *s
		narrowed.o = &only
		answer := &answers[i]
		answer.Check = Check{ID: step.ID, Kind: StepCheck, Lens: OutcomeLens, From: s.from, Until: s.until}
		t.weighStep(step, &narrowed, answer)
		f.Seen = append(f.Seen, answer.Seen...)
		f.first = earlier(f.first, answer.first)
		waits = append(waits, answer.Waits...)
		open, final = open || answer.open, final && answer.Final
		switch {
		case answer.Result == Pass:
			confirmed++
			if confirmed == step.Quorum {
				f.at = answer.at
			}
		case answer.Result == Fail && (answer.absent || answer.Reasons[0].Code == EffectMissing):
			silent++
			if first == nil {
				first = answer
			}
		case answer.Result == Fail:
			contrary++
			first = answer
		}
	}
	f.Final, f.open, f.Waits = final, open, waits
	waiting := len(answers) - confirmed - silent - contrary
	switch {
	case confirmed > 0 && contrary > 0:
		f.Result, f.Reasons = Unknown, []Reason{{Code: SourcesDisagree, Source: first.Reasons[0].Source, Fact: first.Reasons[0].Fact}}
		f.at = timed{}
	case confirmed >= step.Quorum:
		f.Result, f.Reasons = Pass, []Reason{{Code: EffectSeen}}
		if !open {
			f.Waits = nil
		}
	case confirmed+waiting < step.Quorum && confirmed > 0:
		f.Result, f.Reasons = Fail, []Reason{{Code: QuorumNotReached, About: step.ID}}
	case confirmed+waiting < step.Quorum && waiting == 0:
		f.Result, f.Reasons = Fail, first.Reasons
		f.absent = !f.first.known
	case contrary > 0 && confirmed+waiting < step.Quorum:
		f.Result, f.Reasons = Fail, first.Reasons
	default:
		f.Result, f.Reasons = Unknown, []Reason{{Code: AwaitingEvidence}}
		for i := range answers {
			if answers[i].Result == Unknown {
				f.Reasons = answers[i].Reasons
				break
			}
		}
	}
	if f.Result == Fail {
		f.open = false
	}
}
