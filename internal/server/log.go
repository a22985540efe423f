package server

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLog writes a log in a form (text or json) from a level on (debug, info, warn,
// error). Whoever logs says what happened and where to look, and never what a body
// or a credential held.
func NewLog(w io.Writer, format, level string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	options := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}
