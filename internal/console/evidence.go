package console

import (
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type fact struct {
	Source     string
	ExternalID string `json:"external_id"`
	Type       string
	SubjectID  string    `json:"subject_id"`
	OccurredAt time.Time `json:"occurred_at"`
	Retracted  bool
	RecordedBy string `json:"recorded_by"`
}

func factRow(view report.View, f *fact) []terminal.Cell {
	kind := f.Type
	if f.Retracted {
		kind += " (taken back)"
	}
	return cells(f.Source, kind, f.ExternalID, or(f.SubjectID, "-"), moment(view, f.OccurredAt), or(f.RecordedBy, "-"))
}

var factColumns = []string{"source", "type", "id", "subject", "happened", "told by"}

// Facts is a page of facts.
func Facts(raw []byte) (Answer, error) {
	type body struct {
		Facts []fact
		Next  string `json:"next_cursor"`
	}
	return read(raw, func(view report.View, b body) string {
		return table(view, "no facts", len(b.Facts), columns(factColumns...), func(i int) []terminal.Cell {
			return factRow(view, &b.Facts[i])
		}) + more(b.Next)
	})
}

// Orphans is a page of effects that no action claims.
func Orphans(raw []byte) (Answer, error) {
	type body struct {
		Orphans []struct{ Fact fact }
		Next    string `json:"next_cursor"`
	}
	return read(raw, func(view report.View, b body) string {
		return table(view, "no effects without an action", len(b.Orphans), columns(factColumns...), func(i int) []terminal.Cell {
			return factRow(view, &b.Orphans[i].Fact)
		}) + more(b.Next)
	})
}

type source struct {
	Name, Title, Trust string
	Provides           []string
	Watermarks         map[string]time.Time
	Facts              int64
	LastFactAt         time.Time `json:"last_fact_at"`
}

// Sources is the list of sources, or one of them.
func Sources(raw []byte) (Answer, error) {
	type body struct {
		Sources []source
		Source  *source
	}
	return read(raw, func(view report.View, b body) string {
		all := b.Sources
		if b.Source != nil {
			all = []source{*b.Source}
		}
		return table(view, "no sources; make one: deed source add NAME --trust TRUST", len(all), columns("source", "trust", ">facts", "last fact", "complete up to", "provides"), func(i int) []terminal.Cell {
			s := &all[i]
			return cells(s.Name, s.Trust, terminal.Count(s.Facts), moment(view, s.LastFactAt), complete(view, s.Watermarks), list(s.Provides))
		})
	})
}

// complete is the earliest of a source's watermarks: up to then all of it is.
func complete(view report.View, watermarks map[string]time.Time) string {
	var all []time.Time
	for _, at := range watermarks {
		all = append(all, at)
	}
	if len(all) == 0 {
		return "-"
	}
	return moment(view, slices.MinFunc(all, time.Time.Compare))
}
