package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/terminal"
)

// settingFlags are the flags of settings. They are made from the table of
// settings, so that there is no second list of them.
type settingFlags struct {
	Plugins kong.Plugins `embed:""`
	use     setting.Use
}

func newSettingFlags(use setting.Use) settingFlags {
	var fields []reflect.StructField
	for i, s := range setting.For(use) {
		kind := reflect.TypeFor[*string]()
		if s.Form.IsSwitch() {
			kind = reflect.TypeFor[*bool]()
		}
		fields = append(fields, reflect.StructField{
			Name: "Flag" + strconv.Itoa(i), Type: kind,
			Tag: reflect.StructTag(fmt.Sprintf("name:%q help:%q placeholder:%q", s.Name, settingHelp(s), s.Form.Placeholder)),
		})
	}
	return settingFlags{Plugins: kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}, use: use}
}

// settingHelp is a setting in one line of help.
func settingHelp(s setting.Setting) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(s.Meaning, "`", ""), ". ")
	help := strings.TrimSuffix(first, ".") + " ($" + s.Variable()
	if s.Default != "" && !s.Form.IsSwitch() {
		help += "; default " + s.Default
	}
	return help + ")."
}

// given are the flags that stand on the command line.
func (f settingFlags) given() map[string]string {
	flags := map[string]string{}
	fields := reflect.ValueOf(f.Plugins[0]).Elem()
	for i, s := range setting.For(f.use) {
		switch value := fields.Field(i).Interface().(type) {
		case *string:
			if value != nil {
				flags[s.Name] = *value
			}
		case *bool:
			if value != nil {
				flags[s.Name] = strconv.FormatBool(*value)
			}
		}
	}
	return flags
}

// read finds what the settings are, from wherever they are given. Beside an error
// they are only good to be shown.
func (f settingFlags) read(w *world) (*setting.Effective, error) {
	effective, err := setting.Read(setting.Input{
		Use: f.use, Flags: f.given(), Environ: os.Environ(), Read: os.ReadFile, DataFolder: dataFolder(),
	})
	if err != nil {
		return effective, settingError(err)
	}
	w.warnOpenConfig(effective)
	return effective, nil
}

// settingError tells the first thing that is wrong with the settings, what to do
// about it, and the rest.
func settingError(err error) error {
	var problems setting.Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		return &misuse{err}
	}
	var next []string
	if problems[0].Hint != "" {
		next = append(next, problems[0].Hint)
	}
	for _, p := range problems[1:] {
		next = append(next, p.Error())
		if p.Hint != "" {
			next = append(next, p.Hint)
		}
	}
	next = append(next, "settings: docs/settings.md; as they hold: --print-config")
	return &misuse{terminal.WithHint(problems[0], strings.Join(next, "\n"))}
}

// warnOpenConfig tells of a file with a password in it that others can read.
func (w *world) warnOpenConfig(e *setting.Effective) {
	name := e.SecretIn()
	if name == "" || runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(w.stderr, "deed: %s holds a password and others can read it: chmod 600 %[1]s\n", terminal.Clean(name))
	}
}

// dataFolder is where the server keeps its data if nobody says otherwise; empty
// where there is no such place.
func dataFolder() string {
	home, err := os.UserHomeDir()
	switch {
	case os.Getenv("XDG_DATA_HOME") != "" && filepath.IsAbs(os.Getenv("XDG_DATA_HOME")):
		return filepath.Join(os.Getenv("XDG_DATA_HOME"), "deed")
	case runtime.GOOS == "windows" && os.Getenv("LOCALAPPDATA") != "":
		return filepath.Join(os.Getenv("LOCALAPPDATA"), "deed")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "deed")
	}
	return filepath.Join(home, ".local", "share", "deed")
}
