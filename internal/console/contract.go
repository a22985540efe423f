package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

// Contracts is the list of contracts.
func Contracts(raw []byte) (Answer, error) {
	type body struct {
		Contracts []struct {
			ID, Mode       string
			Latest, Active int
			ActiveFrom     time.Time `json:"active_from"`
		}
	}
	return read(raw, func(view report.View, b body) string {
		return table(view, "no contracts; save one: deed contract push FILE", len(b.Contracts), columns("contract", ">latest", ">active", "mode", "since"), func(i int) []terminal.Cell {
			c := &b.Contracts[i]
			active := "-"
			if c.Active > 0 {
				active = strconv.Itoa(c.Active)
			}
			return cells(c.ID, strconv.Itoa(c.Latest), active, or(c.Mode, "-"), moment(view, c.ActiveFrom))
		})
	})
}

type version struct {
	ContractID string `json:"contract_id"`
	Version    int
	Status     string
	Mode       string
	Note       string
	SavedAt    time.Time `json:"saved_at"`
	SavedBy    string    `json:"saved_by"`
	ActiveFrom time.Time `json:"active_from"`
	Approvers  []string
}

// Versions is the list of a contract's versions.
func Versions(raw []byte) (Answer, error) {
	type body struct{ Versions []version }
	return read(raw, func(view report.View, b body) string {
		return table(view, "no versions", len(b.Versions), columns(">version", "status", "mode", "saved", "by", "active from", "note"), func(i int) []terminal.Cell {
			v := &b.Versions[i]
			return cells(strconv.Itoa(v.Version), v.Status, or(v.Mode, "-"), moment(view, v.SavedAt), v.SavedBy, moment(view, v.ActiveFrom), v.Note)
		})
	})
}

// Version is what became of one version.
func Version(raw []byte) (Answer, error) {
	type body struct {
		Recorded string
		Version  version
		Page     string
		Changes  []struct{ Direction, Sentence string }
	}
	return read(raw, func(_ report.View, b body) string {
		text := "version " + strconv.Itoa(b.Version.Version) + " of " + b.Version.ContractID + " is " + b.Version.Status
		if b.Version.Mode != "" {
			text += " (" + b.Version.Mode + ")"
		}
		if b.Recorded == "known" {
			text += "; that was so before"
		}
		text = terminal.Clean(text) + "\n"
		for _, c := range b.Changes {
			text += terminal.Clean("  "+c.Direction+": "+c.Sentence) + "\n"
		}
		if b.Version.Status == "draft" {
			text += terminal.Clean("activate it: deed contract activate "+b.Version.ContractID+" "+strconv.Itoa(b.Version.Version)) + "\n"
		}
		if b.Page != "" {
			text += terminal.Clean(b.Page) + "\n"
		}
		return text
	})
}

// Text is the YAML of a version.
func Text(raw []byte) (Answer, error) {
	return read(raw, func(_ report.View, b struct{ YAML string }) string {
		lines := strings.SplitAfter(b.YAML, "\n")
		for i, line := range lines {
			text, newline := strings.CutSuffix(line, "\n")
			lines[i] = terminal.Clean(text)
			if newline {
				lines[i] += "\n"
			}
		}
		return strings.Join(lines, "")
	})
}

// DryRun is what a version would have said of a period.
func DryRun(raw []byte) (Answer, error) {
	type body struct {
		Actions  int64
		Complete bool
		Badge    map[string]int64
		Changed  []struct {
			ActionID string `json:"action_id"`
			Lens     string
			Was, Is  string
		}
	}
	return read(raw, func(view report.View, b body) string {
		if b.Actions == 0 {
			return "no actions in this period\n"
		}
		text := terminal.Plural(b.Actions, "action") + ": " + terminal.Count(b.Badge["PASS"]) + " PASS, " +
			terminal.Count(b.Badge["FAIL"]) + " FAIL, " + terminal.Count(b.Badge["UNKNOWN"]) + " UNKNOWN\n"
		if !b.Complete {
			text += "it stopped before the end of the period; take a shorter one\n"
		}
		if len(b.Changed) > 0 {
			text += "\n" + table(view, "", len(b.Changed), columns("action", "lens", "was", "would be"), func(i int) []terminal.Cell {
				c := &b.Changed[i]
				return cells(c.ActionID, c.Lens, c.Was, c.Is)
			})
		}
		return text
	})
}
