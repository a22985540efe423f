package main

import (
	"strings"
	"testing"
)

func TestVerdictsAreTimedWithTheirTargets(t *testing.T) {
	t.Parallel()
	b := withoutDeed(t)
	b.dose.evaluated, b.dose.declared = 50, 500
	section, err := measureVerdict(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if len(section.figures) != 2 {
		t.Errorf("want a figure for evaluations and one for rolling limits, got %v", section.figures)
	}
	var out strings.Builder
	section.print(&out)
	// The longer window reaches to the first declaration, 500 and the refund.
	if !strings.Contains(out.String(), "501 declarations counted") {
		t.Errorf("the rolling limit did not count all declarations:\n%s", out.String())
	}
}
