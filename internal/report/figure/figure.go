// Package figure stands in for sums and searches that the journal is about to
// answer itself. It must not outlive that: nothing here is an answer.
package figure

import (
	"context"
	"errors"

	"github.com/deed-dev/deed/internal/journal"
)

var errPending = errors.New("this build cannot add up or search the journal yet")

// Reader is a journal's reader.
type Reader struct{ *journal.Reader }

type StatsFilter struct {
	Session string
	Since   int64
}

type ToolStats struct {
	Tool                            string
	Calls, Failed, Unanswered, Open int64
	TookP50, TookP95                int64 // µs, -1
	Returned, Sent                  int64
	Worst                           int64
	WorstSession                    string
	WorstSeq                        int64
}

type DestinationCount struct {
	Kind  string // host, email, ip
	Name  string
	Calls int64
}

type ToolCost struct {
	Tool         string
	Calls        int64
	Returned     int64
	Worst        int64
	WorstSession string
	WorstSeq     int64
}

type Cost struct {
	Tools          []ToolCost
	Calls          int64
	Returned       int64
	FailedCalls    int64
	FailedReturned int64
}

type SearchFilter struct {
	Tool, Text, Host, Session string
	Since                     int64
	Failed                    bool
	Limit                     int
}

type ToolFilter struct {
	Label   string
	Since   int64
	Session string
}

type Tool struct {
	Label, Name                    string
	Calls                          int64
	FirstSeen, LastSeen            int64
	SHA256, Previous               journal.Hash
	ChangedAt                      int64
	Bytes                          int64
	Definition, PreviousDefinition []byte
}

type Found struct {
	Calls        []journal.Call
	Unindexed    int64
	SearchedFrom int64
	More         bool
}

func (Reader) Stats(context.Context, StatsFilter) ([]ToolStats, error)               { return nil, errPending }
func (Reader) Cost(context.Context, StatsFilter) (Cost, error)                       { return Cost{}, errPending }
func (Reader) Destinations(context.Context, StatsFilter) ([]DestinationCount, error) { return nil, nil }
func (Reader) Tools(context.Context, ToolFilter) ([]Tool, error)                     { return nil, errPending }
func (Reader) Search(context.Context, SearchFilter) (Found, error)                   { return Found{}, errPending }
