package evidence

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// Trust is how far a source's facts are out of the agent's reach.
type Trust uint8

// From nothing to most: what the agent's own side reports, what a customer's
// key pushed, what the provider signed, and what was read with a credential
// that the agent does not have.
const (
	NoTrust Trust = iota
	SelfReported
	Asserted
	Attested
	Independent
)

var trustNames = [...]string{"", "self_reported", "asserted", "attested", "independent"}

func (t Trust) String() string { return trustNames[t] }

// ParseTrust reads a trust by its name.
func ParseTrust(name string) (Trust, error) {
	for i, known := range trustNames {
		if i > 0 && known == name {
			return Trust(i), nil
		}
	}
	return NoTrust, fmt.Errorf("trust %q is not one of %s", name, strings.Join(trustNames[1:], ", "))
}

// MarshalText writes the trust's name.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the trust's name.
func (t *Trust) UnmarshalText(text []byte) error {
	parsed, err := ParseTrust(string(text))
	*t = parsed
	return err
}

// Source is a system of record as it stood at one time.
type Source struct {
	Name  string `json:"name"`
	Trust Trust  `json:"trust"`
	// Provides lists the fact types that it can tell of. Empty means any.
	Provides []string `json:"provides,omitzero"`
	// Resolution is the unit of its times; zero means a second.
	Resolution Resolution `json:"resolution,omitzero"`
	// Watermarks say for each fact type up to when, inclusive, the source's
	// facts are complete. A type without one is never covered.
	Watermarks map[string]value.Instant `json:"watermarks,omitzero"`
}

// Unit is the resolution of the source's times.
func (s *Source) Unit() time.Duration {
	if s.Resolution == 0 {
		return time.Second
	}
	return time.Duration(s.Resolution)
}

// Watermark is the time up to which facts of a type are complete, and zero for
// a type that the source never states complete or does not provide.
func (s *Source) Watermark(factType string) value.Instant {
	if len(s.Provides) > 0 {
		provided := false
		for _, p := range s.Provides {
			provided = provided || p == factType
		}
		if !provided {
			return 0
		}
	}
	return s.Watermarks[factType]
}

// Resolution is a duration that JSON writes as text: "1s", "1ms".
type Resolution time.Duration

// MarshalText writes the resolution as Go writes durations.
func (r Resolution) MarshalText() ([]byte, error) { return []byte(time.Duration(r).String()), nil }

// UnmarshalText reads a duration from a microsecond to a day.
func (r *Resolution) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < time.Microsecond || d > 24*time.Hour {
		return fmt.Errorf("resolution %q is not between 1us and 24h", text)
	}
	*r = Resolution(d)
	return nil
}
