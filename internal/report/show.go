package report

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/tlog"
)

// Story is everything that is recorded about one request: itself, what
// belongs to it, and its answer.
type Story struct {
	id      string
	run     journal.Run
	records []journal.Record // the request first
	gaps    []journal.Gap    // while it was open
	clock   terminal.Clock
}

// NewestCall is the id that stands for the newest tool call.
const NewestCall = "last"

// ShowCall finds a request by the id that the other answers print. Errors:
// [CallIDError], [NoSessionError], [AmbiguousError], [NoCallError].
func ShowCall(ctx context.Context, history journal.History, clock terminal.Clock, id string) (*Story, error) {
	if id == NewestCall {
		var err error
		if id, err = newestCall(ctx, history); err != nil {
			return nil, err
		}
	}
	prefix, seq, err := parseCallID(id)
	if err != nil {
		return nil, err
	}
	run, err := findRun(ctx, history, clock, prefix)
	if err != nil {
		return nil, err
	}
	short, err := newShortener(history).short(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	id = short + "." + strconv.FormatInt(seq, 10)
	records, err := history.Call(ctx, run.ID, seq)
	switch {
	case errors.Is(err, journal.ErrNotFound), err == nil && len(records) == 0:
		return nil, terminal.WithHint(&NoCallError{id}, "list the calls of that session: deed tail --all --session "+short)
	case err != nil:
		return nil, fmt.Errorf("read call %s: %w", id, err)
	}
	story := &Story{id: id, run: run, records: records, clock: clock}
	return story, story.findGaps(ctx, history)
}

func newestCall(ctx context.Context, history journal.History) (string, error) {
	newest, err := history.Calls(ctx, journal.CallFilter{ToolsOnly: true, Order: journal.Newest, Limit: 1})
	if err != nil {
		return "", fmt.Errorf("find the newest call: %w", err)
	}
	if len(newest) == 0 {
		return "", NothingRecorded()
	}
	return newest[0].Session + "." + strconv.FormatInt(newest[0].Seq, 10), nil
}

// findGaps looks for what was not seen between the request and its answer: a
// call with a hole in it must not look whole.
func (s *Story) findGaps(ctx context.Context, history journal.History) error {
	begin := s.records[0].Entry
	gaps, err := history.Gaps(ctx, s.run.ID, begin.At)
	if err != nil {
		return fmt.Errorf("look for gaps: %w", err)
	}
	answer, answered := s.answer()
	s.gaps = slices.DeleteFunc(gaps, func(gap journal.Gap) bool { return answered && gap.At > answer.Entry.At })
	return nil
}

// Message is one side of a call whose body can be read.
type Message string

// The messages of a call.
const (
	MessageRequest Message = "request"
	MessageResult  Message = "result"
)

// NoAnswerError says that a call has no answer whose body could be read.
type NoAnswerError struct{ ID string }

func (e *NoAnswerError) Error() string { return "call " + e.ID + " has no answer" }

// record is the entry of a message.
func (s *Story) record(message Message) (journal.Record, error) {
	if message == MessageRequest {
		return s.records[0], nil
	}
	answer, answered := s.answer()
	if !answered {
		return journal.Record{}, &NoAnswerError{s.id}
	}
	return answer, nil
}

// answer is the response of the story, if there is one.
func (s *Story) answer() (journal.Record, bool) {
	for _, record := range s.records {
		if record.Entry.Kind == entry.KindResponse {
			return record, true
		}
	}
	return journal.Record{}, false
}

// isCancellation says whether a record takes back a request that somebody
// made. A server, too, may tell that it ends what a client asked for.
func isCancellation(record journal.Record, asker string) bool {
	return record.Entry.Kind == entry.KindNotification && record.Entry.From == asker &&
		record.Detail != nil && record.Detail.Method.String() == "notifications/cancelled"
}

// leafHash is the hash under which the log holds a record.
func leafHash(leaf []byte) string {
	hash := tlog.LeafHash(leaf)
	return hex.EncodeToString(hash[:])
}

// StoryDocument is the JSON form of [Story].
type StoryDocument struct {
	Call    string           `json:"call"`    // its id
	Session SessionDocument  `json:"session"` // in which it is
	Records []RecordDocument `json:"records"` // in the order in which they were seen
	Gaps    []GapDocument    `json:"gaps"`    // what was not seen while the call was open
}

// RecordDocument is one entry of the log and what was read for it.
type RecordDocument struct {
	LogPosition  int64         `json:"log_position"`  // from 0
	LeafSHA256   string        `json:"leaf_sha256"`   // RFC 6962 leaf hash
	Leaf         string        `json:"leaf"`          // the bytes that are hashed
	Kind         entry.Kind    `json:"kind"`          // request, response, notification and the like
	Seq          int64         `json:"seq"`           // of its session
	From         string        `json:"from"`          // who sent it: client or server; empty where nobody did
	BeganAt      *string       `json:"began_at"`      // first byte; null when that was at
	At           string        `json:"at"`            // last byte
	Bytes        int64         `json:"wire_bytes"`    // of the message with its line end
	FramingBytes int64         `json:"framing_bytes"` // around it, of a batch
	WireSHA256   *string       `json:"wire_sha256"`   // over a salt and the exact bytes
	Outcome      *string       `json:"outcome"`       // of a response
	Reason       *string       `json:"reason"`        // of an intent, a gap or an end
	TookUS       *int64        `json:"took_us"`       // of a response
	Flags        []string      `json:"flags"`         // what was odd; docs/journal-format.md has the words
	Erased       bool          `json:"erased"`        // what was read was erased
	Detail       *entry.Detail `json:"detail"`        // what was read
	// what was kept of the message itself; null where nothing was
	Body *RecordBodyDocument `json:"body"`
}

// RecordBodyDocument says what was kept of a message. It says so after it was
// erased, too: the log has it.
type RecordBodyDocument struct {
	SHA256       string `json:"sha256"`        // over a salt and the bytes that were kept
	KeptBytes    int64  `json:"kept_bytes"`    // how many those are
	OmittedBytes int64  `json:"omitted_bytes"` // left out between head and tail
	HeadBytes    int64  `json:"head_bytes"`    // kept before what was left out
}

// Document is the answer for programs.
func (s *Story) Document() any {
	d := StoryDocument{Call: s.id, Session: sessionDocument(s.run, s.clock), Records: []RecordDocument{}, Gaps: gapDocuments(s.gaps)}
	for _, record := range s.records {
		d.Records = append(d.Records, recordDocument(record))
	}
	return d
}

func recordDocument(record journal.Record) RecordDocument {
	e := record.Entry
	document := RecordDocument{
		LogPosition: record.N, LeafSHA256: leafHash(record.Leaf), Leaf: string(record.Leaf),
		Kind: e.Kind, Seq: e.Seq, From: e.From, BeganAt: stampOrNil(e.Began), At: stamp(e.At),
		Bytes: e.Bytes, FramingBytes: e.Framing, TookUS: knownOrNil(e.Took),
		Flags: orEmpty(e.Flags), Erased: record.Erased, Detail: record.Detail,
	}
	if e.Wire != (entry.Hash{}) {
		sum := hex.EncodeToString(e.Wire[:])
		document.WireSHA256 = &sum
	}
	if e.Reason != "" {
		document.Reason = &e.Reason
	}
	if e.Outcome != "" {
		outcome := string(e.Outcome)
		document.Outcome = &outcome
	}
	if e.Body != (entry.Hash{}) {
		document.Body = &RecordBodyDocument{SHA256: e.Body.String(), KeptBytes: e.Kept, OmittedBytes: e.Omitted, HeadBytes: e.Head}
	}
	return document
}
