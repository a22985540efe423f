package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Outbox is what was sent of an outbox, and what is in it.
type Outbox struct {
	Letters []journal.Letter // oldest first
	Sent    *Sent            // nil when nothing was to be sent
}

// Sent is what sending did.
type Sent struct {
	Declared, Undeliverable, Others int
	Stopped                         string // why the server takes no more now; empty if it does
}

// OutboxDocument is the JSON form of [Outbox].
type OutboxDocument struct {
	Sent          *SentDocument    `json:"sent"`          // null when nothing was to be sent
	Waiting       []LetterDocument `json:"waiting"`       // oldest first
	Undeliverable []LetterDocument `json:"undeliverable"` // oldest first
}

// SentDocument is what sending did.
type SentDocument struct {
	Declared      int     `json:"declared"`      // the server has them now
	Undeliverable int     `json:"undeliverable"` // it will not take them
	Others        int     `json:"others"`        // left alone, being for another server or key
	Stopped       *string `json:"stopped"`       // why it takes no more at present; null if it does
}

// LetterDocument is an action that was not declared when its call went on.
type LetterDocument struct {
	LogPosition int64  `json:"log_position"` // of its intent
	Call        string `json:"call"`         // session and place of the intent
	Action      string `json:"action_id"`    // of the action
	Contract    string `json:"contract_id"`  // that should govern it
	Subject     string `json:"subject_id"`   // what it acts on
	Tool        string `json:"tool"`         // that was called
	API         string `json:"api_url"`      // where it is to be declared
	RequestedAt string `json:"requested_at"` // when the call was seen
	Tries       int64  `json:"tries"`        // after its call had gone on, and the one before
	DueAt       string `json:"due_at"`       // when it is tried next
	Said        string `json:"said"`         // what the last try met
	Bytes       int64  `json:"bytes"`        // of the declaration
}

// Document is the answer for programs.
func (o *Outbox) Document() any {
	d := OutboxDocument{Waiting: []LetterDocument{}, Undeliverable: []LetterDocument{}}
	if s := o.Sent; s != nil {
		d.Sent = &SentDocument{Declared: s.Declared, Undeliverable: s.Undeliverable, Others: s.Others}
		if s.Stopped != "" {
			d.Sent.Stopped = &s.Stopped
		}
	}
	for _, l := range o.Letters {
		one := LetterDocument{
			LogPosition: l.N, Call: fmt.Sprintf("%s.%d", l.Session, l.Seq), Action: l.Action, Contract: l.Contract,
			Subject: l.Subject, Tool: l.Tool, API: l.API, RequestedAt: stamp(l.At), Tries: l.Tries, DueAt: stamp(l.Due),
			Said: l.Said, Bytes: l.Bytes,
		}
		if l.State == journal.StateUndeliverable {
			d.Undeliverable = append(d.Undeliverable, one)
		} else {
			d.Waiting = append(d.Waiting, one)
		}
	}
	return d
}

// lettersListed is how many letters of each kind are printed.
const lettersListed = 15

// Text is the answer for people.
func (o *Outbox) Text(view View) string {
	var b strings.Builder
	if s := o.Sent; s != nil {
		fmt.Fprintf(&b, "%s declared", terminal.Plural(int64(s.Declared), "action"))
		if s.Undeliverable > 0 {
			fmt.Fprintf(&b, ", %d that the server will not take", s.Undeliverable)
		}
		if s.Others > 0 {
			fmt.Fprintf(&b, ", %d left alone: for another server or key", s.Others)
		}
		b.WriteString("\n")
		if s.Stopped != "" {
			b.WriteString(view.Style.Warn("the server takes no more at present: "+terminal.Clean(s.Stopped)) + "\n")
		}
	}
	var waiting, given []journal.Letter
	for _, l := range o.Letters {
		if l.State == journal.StateUndeliverable {
			given = append(given, l)
		} else {
			waiting = append(waiting, l)
		}
	}
	if len(o.Letters) == 0 {
		b.WriteString(view.Style.Good("the outbox is empty") + "\n")
	}
	b.WriteString(lettersText("waiting", waiting, view))
	b.WriteString(lettersText("undeliverable", given, view))
	if len(given) > 0 {
		b.WriteString("\nSend those once more: deed flush --retry\n")
	}
	return b.String()
}

func lettersText(heading string, letters []journal.Letter, view View) string {
	if len(letters) == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Max: nameWidth}, {Max: nameWidth}, {}, {Max: whyWidth}}}
	for _, l := range letters[:min(len(letters), lettersListed)] {
		name, said := l.Action, l.Said
		if name == "" {
			name = "(erased)"
		}
		if said == "" {
			said = "not tried again so far"
		}
		table.Add(terminal.Text(name), terminal.Text(l.Tool), terminal.Text(view.moment(l.At)), terminal.Cell{Text: said, Paint: view.Style.Faint})
	}
	text := fmt.Sprintf("\n%s (%s)\n", view.Style.Strong(heading), terminal.Count(int64(len(letters)))) + table.String()
	if more := len(letters) - lettersListed; more > 0 {
		text += fmt.Sprintf("  and %s more: deed flush --list --json\n", terminal.Count(int64(more)))
	}
	return text
}
