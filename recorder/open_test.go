package recorder

import (
	"fmt"
	"testing"
)

func TestWhatIsNeverAnsweredDoesNotStayForEver(t *testing.T) {
	t.Parallel()
	o := newOpenCalls()
	for i := range 5 * mostOpen {
		o.add(fmt.Sprint(i), "a")
		if i%3 == 0 {
			o.take(fmt.Sprint(i))
		}
	}
	if len(o.actions) > mostOpen || len(o.order) > 2*mostOpen {
		t.Errorf("%d calls and %d ids are kept", len(o.actions), len(o.order))
	}
	if _, open := o.take(fmt.Sprint(5*mostOpen - 1)); !open {
		t.Error("the latest call is forgotten")
	}
	if _, open := o.take("1"); open {
		t.Error("the oldest call is kept")
	}
}

func TestAnIDThatIsUsedAgainBelongsToTheLaterCall(t *testing.T) {
	t.Parallel()
	o := newOpenCalls()
	o.add("1", "first")
	o.add("1", "second")
	if action, open := o.take("1"); !open || action != "second" {
		t.Errorf("it is %q", action)
	}
	if _, open := o.take("1"); open {
		t.Error("it is answered twice")
	}
	for range 3 * mostOpen { // the same id, answered each time
		o.add("1", "again")
		o.take("1")
	}
	o.add("1", "last")
	if len(o.order) > 2*mostOpen+1 {
		t.Errorf("%d ids are kept", len(o.order))
	}
	if action, _ := o.take("1"); action != "last" {
		t.Errorf("it is %q", action)
	}
}
