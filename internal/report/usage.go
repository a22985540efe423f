package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Disk is what a journal takes on the disk.
type Disk struct {
	usage    journal.Usage
	sessions []diskSession // the biggest first
	clock    terminal.Clock
}

type diskSession struct {
	journal.SessionUsage
	short, label string
	started      int64
}

// DiskUse names what takes room, for people.
func DiskUse(ctx context.Context, history journal.History, clock terminal.Clock, usage journal.Usage) (*Disk, error) {
	d := &Disk{usage: usage, clock: clock}
	ids := newShortener(history)
	for _, one := range usage.Sessions {
		session := diskSession{SessionUsage: one}
		var err error
		if session.short, err = ids.short(ctx, one.Session); err != nil {
			return nil, err
		}
		run, err := findRun(ctx, history, clock, one.Session)
		var gone *NoSessionError
		if err != nil && !errors.As(err, &gone) {
			return nil, err
		}
		session.label, session.started = nameOf(run), run.Started
		d.sessions = append(d.sessions, session)
	}
	return d, nil
}

// Text is what takes room, and what goes next.
func (d *Disk) Text(view View) string {
	u := &d.usage
	table := terminal.Table{Columns: []terminal.Column{{}, {Right: true}, {}}}
	add := func(name string, bytes int64, note string) {
		table.Add(terminal.Text(name), terminal.Text(terminal.Size(bytes)), terminal.Cell{Text: note, Paint: view.Style.Faint})
	}
	add("entries", u.Entries, "the log itself: sizes, times, hashes")
	add("details", u.Details, "names, arguments, results, errors and destinations as they were read")
	add("bodies", u.Bodies, d.bodiesNote())
	add("other", u.Other, "what the database needs for them: columns, indexes, hashes of the tree, sums")
	if u.Free > 0 {
		add("free", u.Free, "used again")
	}
	table.Add(terminal.Cell{Text: "database", Paint: view.Style.Strong}, terminal.Text(terminal.Size(u.Database)), terminal.Cell{Text: d.fileNote(), Paint: view.Style.Faint})
	if u.WAL > 0 {
		add("side file", u.WAL, "what was written last; it shrinks by itself")
	}
	return table.String() + d.sessionsText(view) + "\n" + d.nextText(view)
}

// fileNote tells the database from its file, which has what is in the side
// file only later, and gives up room only later.
func (d *Disk) fileNote() string {
	if d.usage.File == d.usage.Database {
		return ""
	}
	if d.usage.File > d.usage.Database {
		return "its file still has " + terminal.Size(d.usage.File)
	}
	return "its file has " + terminal.Size(d.usage.File) + " so far; the rest is in the side file"
}

func (d *Disk) bodiesNote() string {
	u := &d.usage
	if u.BodyCount == 0 {
		return "none is kept"
	}
	return fmt.Sprintf("%s, %s before compression", plural(u.BodyCount, "message", "messages"), terminal.Size(u.BodyOriginal))
}

func (d *Disk) sessionsText(view View) string {
	if len(d.sessions) == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Right: true}, {Right: true}, {Max: nameWidth}, {}, {}}}
	for _, session := range d.sessions {
		started := ""
		if session.started != 0 {
			started = view.moment(session.started)
		}
		table.Add(
			terminal.Text(terminal.Size(session.Stored)), terminal.Text(plural(session.Bodies, "body", "bodies")), terminal.Text(session.label),
			terminal.Text(started), terminal.Cell{Text: session.short, Paint: view.Style.Faint},
		)
	}
	return "\n" + view.Style.Strong("biggest sessions, by their bodies") + "\n" + table.String()
}

// nextText says what retention takes next. Only bodies ever go by themselves.
func (d *Disk) nextText(view View) string {
	u := &d.usage
	var b strings.Builder
	b.WriteString("bodies are kept " + d.limitsText() + "; entries and details stay until deed erase\n")
	if u.Over.Bodies > 0 {
		b.WriteString(view.Style.Warn(fmt.Sprintf("%s, %s, will be removed at the end of a session", plural(u.Over.Bodies, "body", "bodies"), terminal.Size(u.Over.Stored))) + "\n")
	}
	switch {
	case u.BodyCount == 0:
	case u.Next.N < 0:
		b.WriteString("after that none is left\n")
	case u.Next.At != 0:
		b.WriteString("the oldest that stays goes " + view.Clock.Dated(terminal.Micros(u.Next.At)) + "\n")
	}
	return b.String()
}

func (d *Disk) limitsText() string {
	var limits []string
	if age := d.usage.Policy.MaxAge; age >= 0 {
		limits = append(limits, "for "+daysText(age))
	}
	if size := d.usage.Policy.MaxBytes; size >= 0 {
		limits = append(limits, "up to "+terminal.Size(size))
	}
	if len(limits) == 0 {
		return "for ever"
	}
	return strings.Join(limits, " and ")
}

func daysText(age time.Duration) string {
	const day = 24 * time.Hour
	if age >= day && age%day == 0 {
		return terminal.Plural(int64(age/day), "day")
	}
	return terminal.Duration(age)
}

// DiskDocument is the JSON form of [Disk]. Sizes are bytes, none of them
// estimated.
type DiskDocument struct {
	DatabaseBytes int64 `json:"database_bytes"` // of the database; the next five add up to it
	EntryBytes    int64 `json:"entry_bytes"`    // of the log itself, as it is hashed
	DetailBytes   int64 `json:"detail_bytes"`   // of what was read from messages, as it is hashed
	BodyBytes     int64 `json:"body_bytes"`     // of what was kept of messages, as it is stored
	OtherBytes    int64 `json:"other_bytes"`    // of columns, indexes, hashes of the tree and sums
	FreeBytes     int64 `json:"free_bytes"`     // of pages that are used again
	FileBytes     int64 `json:"file_bytes"`     // of the database's file, as the file system has it
	WALBytes      int64 `json:"wal_bytes"`      // of the database's side file, likewise

	Bodies            int64 `json:"bodies"`              // how many there are
	BodyOriginalBytes int64 `json:"body_original_bytes"` // before compression
	BodyStoredBytes   int64 `json:"body_stored_bytes"`   // after it

	Sessions      []DiskSessionDocument `json:"sessions"`        // those with the biggest bodies
	MaxAgeUS      *int64                `json:"max_age_us"`      // that a body is kept; null for ever
	MaxBytes      *int64                `json:"max_bytes"`       // of bodies that are kept; null without a limit
	OverBodies    int64                 `json:"over_bodies"`     // that are over a limit and will be removed
	OverBytes     int64                 `json:"over_bytes"`      // that those take
	NextRemovedAt *string               `json:"next_removed_at"` // when the age of the oldest other body takes it
	PrunedAt      *string               `json:"pruned_at"`       // when bodies were last removed so; null if never
}

// DiskSessionDocument is what the bodies of one session take.
type DiskSessionDocument struct {
	Session       string `json:"session"`        // 32 hex digits
	Label         string `json:"label"`          // of its server
	Bodies        int64  `json:"bodies"`         // how many
	OriginalBytes int64  `json:"original_bytes"` // before compression
	StoredBytes   int64  `json:"stored_bytes"`   // after it
}

// Document is the answer for programs.
func (d *Disk) Document() any {
	u := &d.usage
	document := DiskDocument{
		DatabaseBytes: u.Database, EntryBytes: u.Entries, DetailBytes: u.Details, BodyBytes: u.Bodies, OtherBytes: u.Other,
		FreeBytes: u.Free, FileBytes: u.File, WALBytes: u.WAL, Bodies: u.BodyCount, BodyOriginalBytes: u.BodyOriginal, BodyStoredBytes: u.BodyStored,
		Sessions: []DiskSessionDocument{}, MaxAgeUS: knownOrNil(u.Policy.MaxAge.Microseconds()), MaxBytes: knownOrNil(u.Policy.MaxBytes),
		OverBodies: u.Over.Bodies, OverBytes: u.Over.Stored, NextRemovedAt: stampOrNil(u.Next.At), PrunedAt: stampOrNil(u.PrunedAt),
	}
	for _, session := range d.sessions {
		document.Sessions = append(document.Sessions, DiskSessionDocument{
			Session: session.Session, Label: session.label, Bodies: session.Bodies, OriginalBytes: session.Original, StoredBytes: session.Stored,
		})
	}
	return document
}
