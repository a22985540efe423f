package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Result is how a declaration went.
type Result struct {
	Declared bool
	Recorded string // new, replayed or changed; empty where the server did not say
	Status   int    // of the answer; 0 without one

	// Of one that is not declared.
	Final bool          // the server has refused it, and will again
	After time.Duration // the server asked not to be asked again for so long
	Class string        // in a few fixed words, for records: "unreachable", "HTTP 503 unavailable"
	Why   string        // the same with what the server said, for people
}

// Said is what the journal keeps of a result.
func (r Result) Said() entry.Declaration {
	return entry.Declaration{Status: int64(r.Status), Recorded: r.Recorded, Why: r.Class}
}

// answered is what an answer of the server means. Taken is only what says so:
// anything between us and the server can answer 200.
func answered(status int, header http.Header, body []byte) Result {
	r := Result{Status: status}
	var said struct {
		Recorded string `json:"recorded"`
		Error    struct {
			Code       string      `json:"code"`
			Message    string      `json:"message"`
			RetryAfter json.Number `json:"retry_after"`
		} `json:"error"`
	}
	readable := isJSON(header) && json.Unmarshal(body, &said) == nil
	switch said.Recorded {
	case "new", "replayed", "changed":
		r.Recorded = said.Recorded
	}
	if status == http.StatusCreated || status == http.StatusOK && r.Recorded != "" {
		r.Declared = true
		return r
	}
	r.Class = "HTTP " + strconv.Itoa(status)
	if readable && isWord(said.Error.Code) {
		r.Class += " " + said.Error.Code
	}
	r.Why = r.Class
	if readable && said.Error.Message != "" {
		r.Why += ": " + line(said.Error.Message)
	}
	switch {
	case status/100 == 2:
		r.Class, r.Why = r.Class+" without a word that it is recorded", r.Why+", without a word that it is recorded; is this the address of a Deed server?"
	case status/100 == 3:
		r.Why += ", to somewhere else, where the key is not sent; give the address that it leads to"
	case status == http.StatusTooManyRequests, status/100 == 5:
		r.After = retryAfter(header, said.Error.RetryAfter)
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly:
	case status/100 == 4:
		r.Final = true
	}
	return r
}

func isJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// isWord says whether a code may be kept in records: what is no word could be
// anything.
func isWord(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// longestAfter is the longest that a server can put us off at a time.
const longestAfter = time.Hour

func retryAfter(header http.Header, given json.Number) time.Duration {
	seconds, err := given.Float64()
	if err != nil {
		if seconds, err = strconv.ParseFloat(header.Get("Retry-After"), 64); err != nil {
			when, err := http.ParseTime(header.Get("Retry-After"))
			if err != nil {
				return 0
			}
			seconds = time.Until(when).Seconds()
		}
	}
	if !(seconds > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(seconds, longestAfter.Seconds()) * float64(time.Second))
}

// unanswered is a try that no answer came to.
func unanswered(err error, waited time.Duration) Result {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		why := fmt.Sprintf("no answer within %s", waited.Round(time.Millisecond))
		return Result{Class: "no answer in time", Why: why}
	}
	return Result{Class: "unreachable", Why: "unreachable: " + line(err.Error())}
}

// line makes one line of a text that somebody else wrote, and not a long one.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
