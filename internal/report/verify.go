package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// Verification is what a verification of a journal found, and what it can
// mean.
type Verification struct {
	Report journal.VerifyReport
	// Against says that a checkpoint from outside was given.
	Against bool
}

// noAnchor is the first line where nothing outside the folder was given. What
// follows it is worth less than it sounds, so it must come first.
const noAnchor = "No checkpoint from outside was given: whoever can write this folder could have rewritten all of it."

// Text says what holds, how far, and what was found.
func (v *Verification) Text(view View) string {
	r := &v.Report
	var b strings.Builder
	if !v.Against {
		b.WriteString(view.Style.Warn(noAnchor) + "\n")
	}
	if r.Intact() {
		b.WriteString(view.Style.Good("intact") + ": nothing was found that is not as it was written\n")
	} else {
		b.WriteString(view.Style.Bad("BROKEN") + ": " + things(r.Found) + " wrong\n")
	}
	b.WriteString(v.findingsText(view))
	table := terminal.Table{Columns: []terminal.Column{{}, {}}}
	add := func(name, text string) { table.Add(terminal.Text(name), terminal.Text(text)) }
	add("anchored", v.anchoredText())
	add("unanchored", v.unanchoredText())
	add("checked", v.checkedText())
	add("the wire", v.coverText())
	add("exactly", exactText(r))
	add("journal", r.Path)
	add("log", r.Origin)
	add("key", r.VerifierKey)
	if r.Root != (entry.Hash{}) {
		add("root hash", r.Root.String())
	}
	add("not bound", strings.Join(notBound(), "; "))
	b.WriteString("\n" + table.String())
	b.WriteString(v.notesText(view))
	b.WriteString(erasuresText(r, view))
	if !v.Against {
		b.WriteString("\nKeep a checkpoint where nobody here can change it: deed checkpoint > FILE\n" +
			"and hold the journal against it later: deed verify --against FILE\n")
	}
	return b.String()
}

// notBound is what no signature holds, so that a change of it is not found.
func notBound() []string {
	var all []string
	for _, one := range journal.NotBound() {
		all = append(all, strings.ReplaceAll(one.What, "`", "")+" ("+one.Table+")")
	}
	return all
}

// notesText tells what is no finding and should be known all the same.
func (v *Verification) notesText(view View) string {
	var b strings.Builder
	for _, exposed := range v.Report.Exposures {
		b.WriteString("note: " + view.Style.Warn(terminal.Clean(exposed.Error())) + "\n")
	}
	if n := v.Report.StaleHours; n > 0 {
		fmt.Fprintf(&b, "note: the sums of %s wait to be derived anew after an erasure and were not compared; the next recorder or deed erase does it\n", terminal.Plural(n, "hour"))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

func things(n int64) string {
	if n == 1 {
		return "1 thing is"
	}
	return terminal.Count(n) + " things are"
}

func (v *Verification) findingsText(view View) string {
	var b strings.Builder
	for _, finding := range v.Report.Findings {
		about := ""
		if finding.N >= 0 {
			about = "entry " + terminal.Count(finding.N) + ": "
		}
		b.WriteString("  " + view.Style.Bad(about+terminal.Clean(finding.What)) + "\n")
	}
	if more := v.Report.Found - int64(len(v.Report.Findings)); more > 0 {
		fmt.Fprintf(&b, "  and %s more\n", terminal.Count(more))
	}
	return b.String()
}

// rangeText names entries from first up to last, counted from 0 as the log
// does.
func rangeText(first, last int64) string {
	if first == last {
		return "entry " + terminal.Count(first)
	}
	return "entries " + terminal.Count(first) + " to " + terminal.Count(last)
}

func (v *Verification) anchoredText() string {
	r := &v.Report
	switch {
	case !v.Against:
		return "nothing"
	case r.Anchored == 0:
		return "nothing: the checkpoint that was given vouches for no entry of this journal"
	}
	return rangeText(0, r.Anchored-1) + ": just as they were when the checkpoint that was given was made"
}

func (v *Verification) unanchoredText() string {
	r := &v.Report
	if r.Unanchored() <= 0 {
		return "nothing"
	}
	return rangeText(r.Anchored, r.Entries-1) + ": no checkpoint from outside covers them; whoever holds this folder's key could have written them anew"
}

func (v *Verification) checkedText() string {
	r := &v.Report
	text := fmt.Sprintf("%s in %s", plural(r.Entries, "entry", "entries"), terminal.Plural(r.Sessions, "session"))
	if r.OpenSessions > 0 {
		text += fmt.Sprintf(" (%s without an end)", terminal.Count(r.OpenSessions))
	}
	text += ", " + terminal.Plural(r.Details, "detail")
	if r.Erased > 0 {
		text += fmt.Sprintf(" (and %s erased)", terminal.Count(r.Erased))
	}
	if r.Bodies+r.ErasedBodies > 0 {
		text += ", " + plural(r.Bodies, "body", "bodies")
	}
	if r.ErasedBodies > 0 {
		text += fmt.Sprintf(" (and %s erased)", terminal.Count(r.ErasedBodies))
	}
	return text + ", " + terminal.Plural(r.Checkpoints, "older checkpoint")
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return terminal.Count(n) + " " + many
}

// coverText says how much of what crossed the wire the record has. Only a
// session's end says how much crossed in all, so that "all" is never said
// where one is missing: its recorder may still run, or may have been killed
// with entries in its memory.
func (v *Verification) coverText() string {
	r := &v.Report
	crossed, nothing, all := "that crossed it are covered", "nothing crossed it yet", "all of the "
	if r.OpenSessions > 0 {
		crossed, nothing, all = "that are known to have crossed it are covered", "nothing is known to have crossed it", "the "
	}
	switch {
	case r.SeenBytes == 0 && r.UnseenBytes == 0 && r.Gaps == 0:
		return nothing + v.withoutEndText()
	case r.UnseenBytes == 0 && r.Gaps == 0:
		return all + terminal.Size(r.SeenBytes) + " " + crossed + ", no gaps" + v.withoutEndText()
	}
	return fmt.Sprintf("%s of the %s %s; NOT SEEN: %s in %s",
		share(r.SeenBytes, r.UnseenBytes), terminal.Size(r.SeenBytes+r.UnseenBytes), crossed,
		terminal.Size(r.UnseenBytes), terminal.Plural(r.Gaps, "gap")) + v.withoutEndText()
}

func (v *Verification) withoutEndText() string {
	switch n := v.Report.OpenSessions; n {
	case 0:
		return ""
	case 1:
		return "; 1 session has no end: what crossed it after its last entry is not known"
	default:
		return fmt.Sprintf("; %s sessions have no end: what crossed them after their last entries is not known", terminal.Count(n))
	}
}

// share is a percentage, rounded down: 100 % is said only where nothing is
// missing.
func share(seen, unseen int64) string {
	return fmt.Sprintf("%.2f %%", float64(hundredths(seen, unseen))/100)
}

func hundredths(seen, unseen int64) int64 {
	if unseen == 0 {
		return 10_000
	}
	return min(9_999, int64(float64(seen)/float64(seen+unseen)*10_000))
}

// VerifyDocument is the JSON form of [Verification].
type VerifyDocument struct {
	Intact          bool              `json:"intact"`               // nothing was found
	Findings        []FindingDocument `json:"findings"`             // the first 20
	FindingsTotal   int64             `json:"findings_total"`       // how many there were
	OutsideAnchor   bool              `json:"outside_anchor"`       // a checkpoint from outside was given
	AnchoredEntries int64             `json:"anchored_entries"`     // that the given checkpoint vouches for, from the first on
	Entries         int64             `json:"entries"`              // of the log
	Sessions        int64             `json:"sessions"`             // that were begun
	OpenSessions    int64             `json:"sessions_without_end"` // of these; what crossed them after their last entry is not known
	Details         int64             `json:"details"`              // that are there
	ErasedDetails   int64             `json:"erased_details"`       // that are not there any more
	Bodies          int64             `json:"bodies"`               // that are there
	BodyBytes       int64             `json:"body_bytes"`           // kept in them, before compression
	ErasedBodies    int64             `json:"erased_bodies"`        // that are not there any more
	ErasureEntries  int64             `json:"erasure_entries"`      // that say what was erased
	Erasures        []ErasureDocument `json:"erasures"`             // the first 1,000 of them
	ExactBytes      int64             `json:"exact_bytes"`          // of the wire, kept just as they crossed
	ExactPercent    float64           `json:"exact_percent"`        // of all that crossed, rounded down to two decimals
	Checkpoints     int64             `json:"checkpoints"`          // older ones that were compared
	SeenBytes       int64             `json:"seen_bytes"`           // of the wire
	UnseenBytes     int64             `json:"unseen_bytes"`         // that crossed in gaps
	CoveredPercent  float64           `json:"covered_percent"`      // of what is known to have crossed the wire, rounded down to two decimals
	Gaps            int64             `json:"gaps"`                 // how many
	Path            string            `json:"path"`                 // of the database
	Origin          string            `json:"origin"`               // name of the log
	VerifierKey     string            `json:"verifier_key"`         // that signatures were checked with
	RootSHA256      *string           `json:"root_sha256"`          // of the log; null where entries are missing
	Checkpoint      string            `json:"checkpoint"`           // the journal's last one, a signed note
	Notes           []string          `json:"notes"`                // what is no finding, such as a folder that others can write
	StaleHours      int64             `json:"stale_hours"`          // whose sums were not compared, because an erasure was broken off
	NotBound        []string          `json:"not_bound"`            // what no signature holds, so that a change of it is not found, with its table
}

// FindingDocument is one thing that is not as it must be.
type FindingDocument struct {
	LogPosition *int64 `json:"log_position"` // null where it is about no single entry
	What        string `json:"what"`         // in words
}

// Document is the answer for programs.
func (v *Verification) Document() any {
	r := &v.Report
	d := VerifyDocument{
		Intact: r.Intact(), Findings: make([]FindingDocument, 0, len(r.Findings)), FindingsTotal: r.Found,
		OutsideAnchor: v.Against, AnchoredEntries: r.Anchored, Entries: r.Entries,
		Sessions: r.Sessions, OpenSessions: r.OpenSessions, Details: r.Details, ErasedDetails: r.Erased,
		Bodies: r.Bodies, BodyBytes: r.BodyBytes, ErasedBodies: r.ErasedBodies,
		ErasureEntries: r.ErasureEntries, Erasures: erasureDocuments(r.Erasures), ExactBytes: r.ExactBytes, ExactPercent: exactPercent(r),
		Checkpoints: r.Checkpoints, SeenBytes: r.SeenBytes, UnseenBytes: r.UnseenBytes,
		CoveredPercent: float64(hundredths(r.SeenBytes, r.UnseenBytes)) / 100, Gaps: r.Gaps,
		Path: r.Path, Origin: r.Origin, VerifierKey: r.VerifierKey, Checkpoint: string(r.Checkpoint),
		Notes: []string{}, StaleHours: r.StaleHours, NotBound: notBound(),
	}
	for _, exposed := range r.Exposures {
		d.Notes = append(d.Notes, exposed.Error())
	}
	for _, finding := range r.Findings {
		d.Findings = append(d.Findings, FindingDocument{knownOrNil(finding.N), finding.What})
	}
	if r.Root != (entry.Hash{}) {
		root := r.Root.String()
		d.RootSHA256 = &root
	}
	return d
}
