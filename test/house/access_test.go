package house

import "testing"

// Who may do what must not depend on a clock that a test cannot set, nor a key on
// randomness that its caller did not choose.
func TestAccessHasNoClockAndNoChance(t *testing.T) {
	t.Parallel()
	looked := 0
	for dir, pkg := range tree(t) {
		if !below(dir, "internal/access") {
			continue
		}
		for _, file := range pkg.files {
			if file.test {
				continue
			}
			looked++
			for _, found := range clocks(file) {
				t.Errorf("%s:%s; times and randomness are passed in", file.path, found)
			}
		}
	}
	if looked == 0 {
		t.Error("there is no internal/access, so that nothing was looked at")
	}
}
