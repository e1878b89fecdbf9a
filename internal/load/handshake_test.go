package load

import "testing"

func TestRefusalsAreCountedByReason(t *testing.T) {
	var f refusals
	if n, text := f.all(); n != 0 || text != "" {
		t.Errorf("of none: %d, %q", n, text)
	}
	for _, why := range []string{"no port", "no answer", "refused", "no answer"} {
		f.add(why)
	}
	if n, text := f.all(); n != 4 || text != "2 × no answer; 1 × no port; 1 × refused" {
		t.Errorf("%d: %s", n, text)
	}
}
