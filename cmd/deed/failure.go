package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/alecthomas/kong"
	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

// Exit codes. A wrapped server's own code takes their place for deed run.
const (
	exitOK          = 0
	exitNegative    = 1 // a negative answer, or the command failed
	exitUsage       = 2 // what was asked makes no sense
	exitUndecided   = 3 // neither a positive nor a negative answer: the evidence does not carry one
	exitInterrupted = 130
)

// exitCode ends the command with a code and without a word: all was said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// misuse is an error in what was asked rather than in the answer.
type misuse struct{ error }

func (m *misuse) Unwrap() error { return m.error }

// exit prints what went wrong, if anything, and returns the exit code.
func exit(w *world, err error) int {
	var silent exitCode
	switch {
	case err == nil || isClosedPipe(err):
		return exitOK
	case errors.As(err, &silent):
		return int(silent)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	terminal.PrintError(w.stderr, advise(err))
	return codeOf(err)
}

// codeOf is the exit code that an error stands for.
func codeOf(err error) int {
	var own coded
	var wrong *misuse
	var several *report.AmbiguousError
	var noID *report.CallIDError
	var noWord *journal.SearchTextError
	switch {
	case errors.As(err, &own):
		return int(own.code)
	case errors.As(err, &wrong), errors.As(err, &several), errors.As(err, &noID), errors.As(err, &noWord):
		return exitUsage
	}
	return exitNegative
}

// advise adds what to do next to errors whose packages cannot know it.
func advise(err error) error {
	if errors.Is(err, journal.ErrNoJournal) {
		return report.NothingRecorded()
	}
	return err
}

// usageError is what kong found wrong with a command line, with where the
// right one is told.
func usageError(args []string, err error) error {
	if len(args) == 0 {
		return &misuse{terminal.WithHint(errors.New("no command given"), "begin with: deed demo\nall commands: deed --help")}
	}
	help := "deed --help"
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context != nil && at.Context.Selected() != nil {
		help = at.Context.Selected().FullPath() + " --help"
	}
	if errors.As(err, new(*terminal.Hint)) {
		return &misuse{err} // it says what to do already
	}
	return &misuse{terminal.WithHint(plainly(err), "see: "+help)}
}

var (
	// What kong says of a value that begins with a dash, and of one that is
	// no number. Both speak of types of the parser's.
	dashedValue = regexp.MustCompile(`^(?:.*: )?(--[a-z-]+): expected \w+ value but got "(-[^"]*)" \(\w+ flag\)`)
	noNumber    = regexp.MustCompile(`^(?:.*: )?(--[a-z-]+): expected an? (?:valid )?(?:64 bit )?(int|float)\w* (?:value )?but got "=?([^"]*)"`)
	numberLike  = regexp.MustCompile(`^-[0-9.]`)
)

// plainly puts into plain words what kong found wrong with a value.
func plainly(err error) error {
	if found := dashedValue.FindStringSubmatch(err.Error()); found != nil {
		flag, value := found[1], found[2]
		if numberLike.MatchString(value) {
			return fmt.Errorf("%s %s is negative", flag, value)
		}
		return fmt.Errorf("%s needs a value, and %s is a flag", flag, value)
	}
	if found := noNumber.FindStringSubmatch(err.Error()); found != nil {
		kind := "number"
		if found[2] == "int" {
			kind = "whole number"
		}
		return fmt.Errorf("%s %q is no %s", found[1], found[3], kind)
	}
	return err
}

func errNothingAsked(what, example string) error {
	return terminal.WithHint(errors.New("it was not said "+what), "for example: "+example)
}

func errTogether(one, other string) error {
	return fmt.Errorf("%s and %s cannot stand together", one, other)
}

func errOnlyWith(flag, other string) error {
	return fmt.Errorf("%s only means something with %s", flag, other)
}

func errTooSmall(flag string, n int) error {
	return fmt.Errorf("%s %d is less than 1", flag, n)
}
