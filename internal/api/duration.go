package api

import (
	"fmt"
	"time"
)

// duration is a time span in a body: "24h".
type duration time.Duration

// UnmarshalText reads what [time.ParseDuration] reads and is not negative.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is no duration; write it as in 90s or 24h", clean(string(text)))
	}
	*d = duration(parsed)
	return nil
}
