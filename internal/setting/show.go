package setting

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Show writes the settings as they hold, as a file that could be read again but
// for secrets, with where each came from behind it. What makes no sense stands in
// it as it was given, but not as a setting.
func (e *Effective) Show() string {
	lines := make([]string, len(e.rows))
	width := 0
	for i, row := range e.rows {
		switch {
		case row.wrong && row.Value == "":
			lines[i] = "# " + row.Setting.Name + ":"
		case row.wrong:
			lines[i] = "# " + row.Setting.Name + ": " + strconv.Quote(row.Value)
		case row.Setting.Name == file:
			lines[i] = "# " + row.Setting.Name + ": " + row.Value // it is not a key of itself
		case row.Origin == "":
			lines[i] = "# " + row.Setting.Name + ":"
		default:
			lines[i] = row.Setting.Name + ": " + written(row.Setting.Form, row.Value)
		}
		width = max(width, utf8.RuneCountInString(lines[i]))
	}
	var b strings.Builder
	for i, row := range e.rows {
		from := string(row.Origin)
		if row.wrong {
			from += ", which makes no sense"
		}
		if from == "" {
			from = "not set: " + strings.ReplaceAll(row.Setting.Absent, "`", "")
		}
		fmt.Fprintf(&b, "%s%s  # %s\n", lines[i], strings.Repeat(" ", width-utf8.RuneCountInString(lines[i])), from)
	}
	return b.String()
}

// written is a value as YAML.
func written(f Form, value string) string {
	if f.Placeholder == List.Placeholder {
		quoted := split(value)
		for i := range quoted {
			quoted[i] = scalarText(quoted[i])
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return scalarText(value)
}

// scalarText quotes a value that YAML might take for something else.
func scalarText(value string) string {
	plain := value != ""
	for i, r := range value {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '/' && !(i > 0 && strings.ContainsRune("._-:@", r)) {
			plain = false
		}
	}
	if plain && !strings.HasSuffix(value, ":") {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// SecretIn is the file from which a value that holds a secret came; empty if none
// did.
func (e *Effective) SecretIn() string {
	for _, row := range e.rows {
		if row.hides && row.file != "" {
			return row.file
		}
	}
	return ""
}
