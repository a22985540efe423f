package engine

import (
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// timing is where a fact lies to a check's window.
type timing uint8

const (
	tooEarly timing = iota
	inWindow
	tooLate    // after the window, up to settles_at
	afterwards // after settles_at: it changes nothing
)

// judgement is what a fact, or an effect, means to a check's condition.
type judgement uint8

const (
	undecided judgement = iota
	right
	wrong
)

// sighting is a fact as one check sees it for one party.
type sighting struct {
	fact   *evidence.Fact
	source *evidence.Source
	rank   int
	keyed  bool
	timing timing
	judged judgement
	reason verdict.Reason // why it is wrong or undecided
}

// scope is where a check looks: by which rules and in which time.
type scope struct {
	o     *contract.Observation
	rules []contract.Link
	mode  evidence.Mode
	floor evidence.Trust // the least trust of the kind of check
	from  value.Instant  // start of the window
	until value.Instant  // its end
	last  value.Instant  // when the action settles
	skew  time.Duration  // by how much a keyed fact may precede the window
	// subject: a fact with the action's key but on another subject is wrong.
	subject bool
}

// scope makes the usual scope of an observation for a party; a window of zero
// reaches to settlement.
func (t *trial) scope(p *party, o *contract.Observation, within time.Duration) scope {
	s := scope{o: o, rules: t.k.Link, mode: evidence.Event, from: p.start, until: p.settles, last: p.settles, skew: t.k.Settle.MaxSkew}
	if within > 0 {
		s.until = min(p.start.Add(within), p.settles)
	}
	return s
}

// view is everything that a check sees for a party.
type view struct {
	sightings []sighting
	weak      []*evidence.Fact // would link, but their source is not trusted enough
	elsewhere []*evidence.Fact // in the window, on the subject, but not the party's
	later     []*evidence.Fact // link, but happened after settlement
}

// look finds the facts that a check sees. Facts whose source may not supply it
// are kept apart.
func (t *trial) look(p *party, s *scope) view {
	var v view
	for i := range t.facts {
		f := t.facts[i].Fact
		if f.Type != s.o.Expect || !modeIs(f, s.mode) || !contains(s.o.From, f.Source) {
			continue
		}
		source := t.source(f.Source)
		rank := p.rank(f, s.rules)
		keyed := rank != unlinked && s.rules[rank].Keyed()
		when := s.timing(f, source, keyed)
		if rank == unlinked {
			if p.onSubject(f) && when == inWindow && t.trusted(s, source) {
				v.elsewhere = append(v.elsewhere, f)
			}
			continue
		}
		switch {
		case !t.trusted(s, source):
			if when != afterwards {
				v.weak = append(v.weak, f)
			}
		case when == afterwards:
			v.later = append(v.later, f)
		case when == tooEarly && !keyed:
			// What happened on the subject before is not about this action.
		default:
			seen := sighting{fact: f, source: source, rank: rank, keyed: keyed, timing: when}
			t.judge(p, s, &seen, t.facts[i].Disputed)
			v.sightings = append(v.sightings, seen)
		}
	}
	return v
}

// judge evaluates the check's condition for a fact.
func (t *trial) judge(p *party, s *scope, seen *sighting, disputed bool) {
	f := seen.fact
	switch {
	case s.subject && seen.keyed && p.onOtherSubject(f):
		seen.judged, seen.reason = wrong, verdict.Reason{Code: verdict.SubjectMismatch, About: f.SubjectID}
	case disputed:
		seen.judged, seen.reason = undecided, verdict.Reason{Code: verdict.SourceContradictsItself}
	case s.o.Where == nil:
		seen.judged = right
	default:
		outcome := s.o.Where.Truth(&scene{party: p, fact: f})
		switch outcome.Truth {
		case condition.True:
			seen.judged = right
		case condition.False:
			seen.judged, seen.reason = wrong, verdict.Reason{Code: verdict.ValueMismatch}
			if outcome.OtherCurrency {
				seen.reason.Code = verdict.CurrencyDiffers
			}
		default:
			seen.judged, seen.reason = undecided, causeCode(outcome)
		}
	}
	seen.reason.Source, seen.reason.Fact = f.Source, f.ExternalID
}

// timing compares a fact's time with the window, cut to the source's unit.
func (s *scope) timing(f *evidence.Fact, source *evidence.Source, keyed bool) timing {
	unit := time.Second
	if source != nil {
		unit = source.Unit()
	}
	from := s.from
	if keyed {
		from = from.Add(-s.skew)
	}
	at := f.OccurredAt.Cut(unit)
	switch {
	case at < from.Cut(unit):
		return tooEarly
	case at <= s.until.Cut(unit):
		return inWindow
	case at <= s.last.Cut(unit):
		return tooLate
	}
	return afterwards
}

// trusted says whether a source may supply and cover a check.
func (t *trial) trusted(s *scope, source *evidence.Source) bool {
	return source != nil && source.Trust >= t.trustWanted(s, source.Name)
}

func (t *trial) trustWanted(s *scope, name string) evidence.Trust {
	wanted := max(s.o.Trust, s.floor)
	for i := range t.k.Sources {
		if t.k.Sources[i].Name == name {
			wanted = max(wanted, t.k.Sources[i].Trust)
		}
	}
	return wanted
}

// covered says whether every source that a check may use is complete up to and
// including until, and if not, what is waited for.
func (t *trial) covered(s *scope, until value.Instant) (bool, []verdict.Wait) {
	return t.coveredBy(s, s.o.From, until)
}

func (t *trial) coveredBy(s *scope, from []string, until value.Instant) (bool, []verdict.Wait) {
	var waits []verdict.Wait
	for _, name := range from {
		wait := verdict.Wait{Source: name, Type: s.o.Expect, Until: until}
		if source := t.source(name); source != nil {
			wait.Watermark = source.Watermark(s.o.Expect)
			if t.trusted(s, source) && wait.Watermark >= until && t.c.At >= until {
				continue
			}
		}
		waits = append(waits, wait)
	}
	t.lacking = append(t.lacking, waits...)
	return len(waits) == 0, waits
}

// untrusted says whether a source that the check names is there but not trusted
// enough.
func (t *trial) untrusted(s *scope) (string, bool) {
	for _, name := range s.o.From {
		if source := t.source(name); source != nil && !t.trusted(s, source) {
			return name, true
		}
	}
	return "", false
}

func modeIs(f *evidence.Fact, mode evidence.Mode) bool {
	if f.Mode == "" {
		return mode == evidence.Event
	}
	return f.Mode == mode
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
