package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type key struct {
	ID, Name, Prefix, Status string
	Scopes, Sources          []string
	CreatedAt                time.Time `json:"created_at"`
	ExpiresAt                time.Time `json:"expires_at"`
}

// Keys is the list of API keys.
func Keys(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct{ Keys []key }) string {
		return table(view, "no keys; make one: deed key create NAME --preset recorder", len(b.Keys), columns("key", "name", "prefix", "status", "scopes", "sources", "expires"), func(i int) []terminal.Cell {
			k := &b.Keys[i]
			return cells(k.ID, k.Name, k.Prefix, k.Status, list(k.Scopes), list(k.Sources), moment(view, k.ExpiresAt))
		})
	})
}

// NewKey shows a new key with its secret, once.
func NewKey(raw []byte) (Answer, error) {
	return read(raw, func(_ report.View, b struct {
		Key    key
		Secret string
	},
	) string {
		return fmt.Sprintf("%s\n\nThis is the only time that the key is shown. Give it to the program as DEED_API_KEY.\nIts name in the audit is apikey:%s, its id %s.\n",
			terminal.Clean(b.Secret), terminal.Clean(b.Key.Prefix), terminal.Clean(b.Key.ID))
	})
}

// KeyWithout gives a new key's secret away and shows the rest.
func KeyWithout(raw []byte, take func(secret string) error, to string) (Answer, error) {
	var b struct {
		Key    json.RawMessage `json:"key"`
		Secret string          `json:"secret"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return Answer{}, fmt.Errorf("read the server's answer: %w", err)
	}
	if err := take(b.Secret); err != nil {
		return Answer{}, fmt.Errorf("keep the key: %w", err)
	}
	rest, err := json.Marshal(map[string]json.RawMessage{"key": b.Key})
	if err != nil {
		return Answer{}, fmt.Errorf("show the key: %w", err)
	}
	return read(rest, func(_ report.View, b struct{ Key key }) string {
		return terminal.Clean(fmt.Sprintf("the key is in %s; its name in the audit is apikey:%s, its id %s", to, b.Key.Prefix, b.Key.ID)) + "\n"
	})
}

type member struct {
	ID, Email, Name, Role string
	JoinedAt              time.Time `json:"joined_at"`
}

// Members is the list of members.
func Members(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct{ Members []member }) string {
		return table(view, "no members", len(b.Members), columns("member", "email", "name", "role", "since"), func(i int) []terminal.Cell {
			m := &b.Members[i]
			return cells(m.ID, m.Email, or(m.Name, "-"), m.Role, moment(view, m.JoinedAt))
		})
	})
}

type link struct {
	Token, URL string
	ExpiresAt  time.Time `json:"expires_at"`
}

// shown is the link, or what it is made with where the server knows no address of
// its own.
func (l link) shown() string {
	if l.URL == "" {
		return "SERVER/sign-in#" + terminal.Clean(l.Token) + "\n\nSERVER is the address of this server."
	}
	return terminal.Clean(l.URL)
}

// Invited shows the link of an invitation, once.
func Invited(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct {
		Member member
		Link   link
	},
	) string {
		return fmt.Sprintf("%s is invited as %s. This link signs in once, until %s:\n\n%s\n",
			terminal.Clean(b.Member.Email), terminal.Clean(b.Member.Role), moment(view, b.Link.ExpiresAt), b.Link.shown())
	})
}

// NewLink shows a member's new sign-in link, once.
func NewLink(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct{ Link link }) string {
		return fmt.Sprintf("This link signs in once, until %s:\n\n%s\n", moment(view, b.Link.ExpiresAt), b.Link.shown())
	})
}

// Workspace is the workspace with its settings.
func Workspace(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct {
		Workspace struct {
			ID, Name, Plan string
			Development    bool
			SecondMember   bool      `json:"second_member"`
			CreatedAt      time.Time `json:"created_at"`
		}
	},
	) string {
		w := &b.Workspace
		return terminal.Clean(fmt.Sprintf("%s (%s), plan %s, since %s; development %s, second member %s",
			w.Name, w.ID, w.Plan, moment(view, w.CreatedAt), onOff(w.Development), onOff(w.SecondMember))) + "\n"
	})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Usage is how much of the plan is used.
func Usage(raw []byte) (Answer, error) {
	return read(raw, func(_ report.View, b struct {
		Plan, Title, Period string
		Limits              struct {
			ActionsPerMonth *int64 `json:"actions_per_month"`
		}
		Features  []string
		UpgradeTo string `json:"upgrade_to"`
		Actions   struct {
			Recorded int64
			Over     bool
		}
	},
	) string {
		plan, limit := b.Plan, "no limit"
		if b.Title != "" && b.Title != b.Plan {
			plan += " (" + b.Title + ")"
		}
		used := terminal.Plural(b.Actions.Recorded, "action") + " in " + b.Period
		if most := b.Limits.ActionsPerMonth; most != nil {
			limit = terminal.Plural(*most, "action") + " a month"
			if b.Actions.Over {
				used += fmt.Sprintf(", %s more than included: recorded and verified all the same", terminal.Count(b.Actions.Recorded-*most))
			}
		}
		lines := []string{used, "plan " + plan + ": " + limit + "; features: " + or(strings.Join(b.Features, ", "), "none")}
		if b.UpgradeTo != "" {
			lines = append(lines, "the next plan up is "+b.UpgradeTo)
		}
		for i := range lines {
			lines[i] = terminal.Clean(lines[i]) + "\n"
		}
		return strings.Join(lines, "")
	})
}

// Session is who asks.
func Session(raw []byte) (Answer, error) {
	return read(raw, func(view report.View, b struct {
		Session struct {
			Kind, Actor, Role string
			Workspace         struct{ ID, Name string }
			Scopes            []string
			ExpiresAt         time.Time `json:"expires_at"`
		}
	},
	) string {
		s := &b.Session
		text := fmt.Sprintf("%s in %s (%s)", s.Actor, s.Workspace.Name, s.Workspace.ID)
		if s.Role != "" {
			text += ", " + s.Role
		}
		text += "; scopes: " + list(s.Scopes)
		if !s.ExpiresAt.IsZero() {
			text += "; until " + moment(view, s.ExpiresAt)
		}
		return terminal.Clean(text) + "\n"
	})
}

// Audit is who did what, the latest first.
func Audit(raw []byte) (Answer, error) {
	type body struct {
		Entries []struct {
			At                   time.Time
			Actor, Event, Object string
		}
		Next string `json:"next_cursor"`
	}
	return read(raw, func(view report.View, b body) string {
		return table(view, "nothing yet", len(b.Entries), columns("when", "who", "what", "on"), func(i int) []terminal.Cell {
			e := &b.Entries[i]
			return cells(moment(view, e.At), e.Actor, e.Event, or(e.Object, "-"))
		}) + more(b.Next)
	})
}
