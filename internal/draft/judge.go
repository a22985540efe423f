package draft

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// judge says what makes the proposal weak.
func (s *study) judge() {
	if n := len(s.basis); n < enough {
		s.warn("few_actions", "only %s behind the draft; thirty are few", counted(n, "action stands", "actions stand"))
	}
	if unseen := len(s.actions) - s.stats.Seen; unseen > 0 {
		s.warn("unseen", "no fact belongs to %d of the %d actions; whether they happened is not known, and they are not in the draft", unseen, len(s.actions))
	}
	s.judgeLinks()
	judged := map[string]bool{}
	for _, st := range s.steps {
		e := st.effect
		if e.Orphans > 0 {
			s.warn("effects_without_action", "%s that belongs to none of the actions: by people, by other actions, or by an agent that declared nothing", counted(e.Orphans, e.Type+" is there", e.Type+" are there"))
		}
		if len(st.where) == 0 {
			s.warn("no_condition", "nothing about a %s repeats what was declared, so that any one counts; write what must be true of it under `where`", e.Type)
		}
		source := s.sources[e.Source]
		switch {
		case source == nil && !judged[e.Source]:
			s.warn("unknown_source", "nothing is known of the source %s: its trust is a guess, and it never shows that something is missing", e.Source)
		case source != nil && source.Watermark(e.Type) == 0:
			s.warn("no_watermark", "%s does not say how complete its %s is, so that a missing one stays UNKNOWN and never becomes FAIL", e.Source, e.Type)
		}
		judged[e.Source] = true
	}
}

func (s *study) judgeLinks() {
	bySubject, early := 0, 0
	for _, a := range s.actions {
		keyed := false
		for _, e := range a.events {
			keyed = keyed || e.keyed
		}
		if len(a.events) > 0 && !keyed {
			bySubject++
		}
		if s.tooEarly(a) {
			early++
		}
	}
	switch {
	case len(s.rules) == 1 && s.rules[0].By == contract.BySubject:
		s.warn("subject_only", "facts belong to actions by the subject alone, so that somebody else's effect on it can pass for the agent's; hand the action's id to the system of record, as an idempotency key")
	case bySubject > 0:
		s.warn("subject_only", "%s no fact by a key, only by the subject", counted(bySubject, "action has", "actions have"))
	}
	if early > 0 {
		s.warn("before_declaration", "%s a fact with its key from before it was declared; such an effect fails both lenses", counted(early, "action has", "actions have"))
	}
}

// tooEarly says whether a fact with the action's key happened before it started,
// by more than clocks differ.
func (s *study) tooEarly(a *action) bool {
	for _, rule := range s.rules {
		if !rule.Keyed() || rule.By == contract.BySubjectID {
			continue
		}
		for _, f := range s.byRef[rule.Ref][a.key(rule)] {
			if a.key(rule) != "" && f.OccurredAt < a.first.Start().Add(-skew) && s.isEffect(f) {
				return true
			}
		}
	}
	return false
}

// isEffect says whether a fact is of a type that is a step.
func (s *study) isEffect(f *evidence.Fact) bool {
	for _, st := range s.steps {
		if st.effect.Type == f.Type && st.effect.Source == f.Source {
			return true
		}
	}
	return false
}
