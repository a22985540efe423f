package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
)

// measureAppend fills a journal as the recorder does and stops the clock when
// the last entry is durable.
func measureAppend(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Durable entries in one process",
		header: []string{"Made durable", "n", "Time", "Entries a second"},
	}
	for _, syncEvery := range []int64{b.dose.appended, 1000} {
		home, err := b.newHome()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := fill(ctx, home, b.dose.appended, syncEvery); err != nil {
			return nil, err
		}
		took := time.Since(began)
		rate := float64(b.dose.appended) / took.Seconds()
		how := "once, at the end"
		if syncEvery < b.dose.appended {
			how = fmt.Sprintf("every %d entries", syncEvery)
		} else {
			s.figures = append(s.figures, figure{
				what:   "durable entries a second, in one process with group commit",
				target: "≥ 30,000", value: fmt.Sprintf("%.0f", rate), met: rate >= 30_000,
			})
		}
		s.row(how, fmt.Sprint(b.dose.appended), millis(took), fmt.Sprintf("%.0f", rate))
	}
	return s, nil
}

// measureVerify lets deed verify a journal of many entries, and one of a tenth
// of that: memory that grows with the journal would show.
func measureVerify(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Answers from a large journal",
		header: []string{"Entries", "`deed verify`", "On the processor", "Peak memory", "`deed last`", "On the processor"},
	}
	if b.deed == "" {
		s.remark("Not measured: no deed was given.")
		return s, nil
	}
	for _, entries := range []int64{b.dose.verified / 10, b.dose.verified} {
		home, err := b.newHome()
		if err != nil {
			return nil, err
		}
		if err := fill(ctx, home, entries, entries); err != nil {
			return nil, err
		}
		verified, err := b.deedCommand(ctx, home, "verify")
		if err != nil {
			return nil, err
		}
		if verified.code != 0 {
			return nil, fmt.Errorf("deed verify: exit code %d: %s", verified.code, verified.said)
		}
		last, err := b.deedCommand(ctx, home, "last")
		if err != nil {
			return nil, err
		}
		if last.code != 0 {
			return nil, fmt.Errorf("deed last: exit code %d: %s", last.code, last.said)
		}
		memory := fmt.Sprintf("%.0f MiB", float64(verified.memory)/(1<<20))
		s.row(fmt.Sprint(entries), millis(verified.took), millis(verified.worked), memory, millis(last.took), millis(last.worked))
		if entries == b.dose.verified {
			s.figures = append(s.figures, figure{
				what:   fmt.Sprintf("verify of %d entries", entries),
				target: "< 10 s", value: fmt.Sprintf("%.2f s, peak %s", verified.took.Seconds(), memory),
				met: verified.took < 10*time.Second,
			})
		}
	}
	s.remark("Half of the entries are requests, half are their answers; all calls are in one session.")
	return s, nil
}

// fill records count entries in one session: calls, each with its answer.
func fill(ctx context.Context, home string, count, syncEvery int64) error {
	j, err := journal.Open(home, journal.Options{})
	if err != nil {
		return fmt.Errorf("open a journal: %w", err)
	}
	var id [16]byte
	rand.Read(id[:]) // never fails
	w := &recording{journal: j, session: hex.EncodeToString(id[:]), count: count}
	for seq := range count {
		entry, detail := w.entry(seq)
		if err := j.Append(ctx, entry, detail); err != nil {
			return fmt.Errorf("append entry %d: %w", seq, err)
		}
		if seq%syncEvery == syncEvery-1 {
			if err := j.Sync(ctx); err != nil {
				return fmt.Errorf("make entries durable: %w", err)
			}
		}
	}
	if err := j.Sync(ctx); err != nil {
		return fmt.Errorf("make entries durable: %w", err)
	}
	if err := j.Close(ctx); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

// recording makes up the entries of one session: its beginning, calls with
// their answers, and its end, whose totals are what went before.
type recording struct {
	journal                  *journal.Journal
	session                  string
	count                    int64
	clientBytes, serverBytes int64
}

const (
	recordedRequestBytes = 200
	recordedAnswerBytes  = 1500
	betweenEntriesMicros = 700
)

var tools = []string{"list_orders", "get_order", "refund_order", "export_catalog", "notify_customer"}

func (r *recording) entry(seq int64) (*entry.Entry, *entry.Detail) {
	e := &entry.Entry{
		Session: r.session, Seq: seq, At: startMicros + seq*betweenEntriesMicros,
		Call: -1, Took: -1, ExitCode: -1,
	}
	switch {
	case seq == 0:
		e.Kind, e.Capture = entry.KindSession, "shape"
		return e, &entry.Detail{Label: "bench", Program: "bench", Transport: "stdio", Version: "bench"}
	case seq == r.count-1:
		e.Kind, e.Reason, e.ExitCode = entry.KindEnd, "client_closed", 0
		e.ClientBytes, e.ServerBytes = r.clientBytes, r.serverBytes
		e.Open = (r.count - 2) % 2 // a call that had no room for its answer
		return e, nil
	}
	rand.Read(e.Wire[:])
	method, tool := entry.Text{Whole: "tools/call"}, entry.Text{Whole: tools[seq/2%int64(len(tools))]}
	id := entry.Text{Whole: fmt.Sprint((seq + 1) / 2)}
	detail := &entry.Detail{ID: &id, Method: &method, Tool: &tool}
	if seq%2 == 1 {
		e.Kind, e.From, e.Bytes = entry.KindRequest, "client", recordedRequestBytes
		detail.Shape = []entry.Field{{Name: "order", Type: "string", Bytes: 10}, {Name: "limit", Type: "number", Bytes: 2}}
		r.clientBytes += e.Bytes
		return e, detail
	}
	e.Kind, e.From, e.Bytes = entry.KindResponse, "server", recordedAnswerBytes
	e.Call, e.Took, e.Outcome = seq-1, betweenEntriesMicros, entry.OutcomeOK
	detail.Shape = []entry.Field{{Name: "content", Type: "array", Bytes: 1400, Count: 1}}
	r.serverBytes += e.Bytes
	return e, detail
}

// startMicros is when the made-up session began: 2026-01-01.
var startMicros = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
