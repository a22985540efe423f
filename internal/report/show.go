package report

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/tlog"
)

// Story is everything that is recorded about one request: itself, what
// belongs to it, and its answer.
type Story struct {
	id      string
	run     journal.Run
	records []journal.Record // the request first
	clock   terminal.Clock
}

// ShowCall finds a request by the id that the other answers print. Errors:
// [CallIDError], [NoSessionError], [AmbiguousError], [NoCallError].
func ShowCall(ctx context.Context, history journal.History, clock terminal.Clock, id string) (*Story, error) {
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
	return &Story{id: id, run: run, records: records, clock: clock}, nil
}

// answer is the response of the story, if there is one.
func (s *Story) answer() (journal.Record, bool) {
	for _, record := range s.records {
		if record.Entry.Kind == journal.KindResponse {
			return record, true
		}
	}
	return journal.Record{}, false
}

// leafHash is the hash under which the log holds a record.
func leafHash(leaf []byte) string {
	hash := tlog.LeafHash(leaf)
	return hex.EncodeToString(hash[:])
}

// StoryDocument is the JSON form of [Story].
type StoryDocument struct {
	Call    string           `json:"call"`
	Session SessionDocument  `json:"session"`
	Records []RecordDocument `json:"records"` // in the order in which they were seen
}

// RecordDocument is one entry of the log and what was read for it.
type RecordDocument struct {
	LogPosition  int64           `json:"log_position"` // from 0
	LeafSHA256   string          `json:"leaf_sha256"`  // RFC 6962 leaf hash
	Leaf         string          `json:"leaf"`         // the bytes that are hashed
	Kind         journal.Kind    `json:"kind"`
	Seq          int64           `json:"seq"`
	From         string          `json:"from"`
	BeganAt      *string         `json:"began_at"` // first byte; null when that was at
	At           string          `json:"at"`       // last byte
	Bytes        int64           `json:"wire_bytes"`
	FramingBytes int64           `json:"framing_bytes"` // around it, of a batch
	WireSHA256   *string         `json:"wire_sha256"`   // over a salt and the exact bytes
	Outcome      *string         `json:"outcome"`       // of a response
	TookUS       *int64          `json:"took_us"`       // of a response
	Flags        []string        `json:"flags"`
	Erased       bool            `json:"erased"` // what was read was erased
	Detail       *journal.Detail `json:"detail"` // what was read
}

// Document is the answer for programs.
func (s *Story) Document() any {
	d := StoryDocument{Call: s.id, Session: sessionDocument(s.run, s.clock), Records: []RecordDocument{}}
	for _, record := range s.records {
		entry := record.Entry
		document := RecordDocument{
			LogPosition: record.N, LeafSHA256: leafHash(record.Leaf), Leaf: string(record.Leaf),
			Kind: entry.Kind, Seq: entry.Seq, From: entry.From, BeganAt: stampOrNil(entry.Began), At: stamp(entry.At),
			Bytes: entry.Bytes, FramingBytes: entry.Framing, TookUS: knownOrNil(entry.Took),
			Flags: orEmpty(entry.Flags), Erased: record.Erased, Detail: record.Detail,
		}
		if entry.Wire != (journal.Hash{}) {
			sum := hex.EncodeToString(entry.Wire[:])
			document.WireSHA256 = &sum
		}
		if entry.Outcome != "" {
			outcome := string(entry.Outcome)
			document.Outcome = &outcome
		}
		d.Records = append(d.Records, document)
	}
	return d
}
