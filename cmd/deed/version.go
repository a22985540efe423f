package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the release build: -ldflags "-X main.version=1.2.0 -X main.commit=… -X main.date=…".
var version, commit, date string

// built says what this binary was made from.
type built struct {
	Version string // without "v"; "devel" where nobody gave one
	Commit  string // as much of it as is known
	Date    string // of the commit, RFC 3339
	Dirty   bool   // built from a tree with changes
}

// buildVersion takes what the release build set, and else what Go itself
// noted about the tree it built from.
func buildVersion() built {
	b := built{Version: version, Commit: commit, Date: date}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b.withDefaults()
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		case s.Key == "vcs.modified":
			b.Dirty = s.Value == "true" && commit == ""
		}
	}
	return b.withDefaults()
}

func (b built) withDefaults() built {
	b.Version = strings.TrimPrefix(b.Version, "v")
	if b.Version == "" {
		b.Version = "devel"
	}
	return b
}

// String is one line: version, commit, date and the system it was built for.
func (b built) String() string {
	var from []string
	if b.Commit != "" {
		short := b.Commit[:min(12, len(b.Commit))]
		if b.Dirty {
			short += "+changes"
		}
		from = append(from, short)
	}
	if b.Date != "" {
		from = append(from, b.Date)
	}
	from = append(from, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return b.Version + " (" + strings.Join(from, ", ") + ")"
}
