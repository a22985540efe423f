package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is one line about where the figures come from.
func machine(b *bench) string {
	parts := []string{
		time.Now().UTC().Format("2006-01-02"),
		fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
		fmt.Sprintf("%d cores", runtime.NumCPU()),
	}
	if model := processor(); model != "" {
		parts = append(parts, model)
	}
	parts = append(parts, runtime.Version())
	if kind := filesystem(b.dir); kind != "" {
		parts = append(parts, "journal on "+kind)
	}
	if load := loadAverage(); load != "" {
		parts = append(parts, "load "+load+" before the start")
	}
	return "Machine: " + strings.Join(parts, ", ")
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, model, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return ""
}

// filesystem names the kind that holds dir: the deepest mount above it.
func filesystem(dir string) string {
	text, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return ""
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return ""
	}
	kind, deepest := "", -1
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields[1]) < deepest {
			continue
		}
		if mount := strings.TrimSuffix(fields[1], "/"); dir == mount || strings.HasPrefix(dir, mount+"/") {
			kind, deepest = fields[2], len(fields[1])
		}
	}
	return kind
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// peakMemory is the most that a running process has held in memory so far, in
// bytes. Only Linux tells it of another process; elsewhere found is false.
func peakMemory(pid int) (peak int64, found bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kibibytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		return kibibytes << 10, err == nil
	}
	return 0, false
}
