package throngtest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDifferencesAreProven holds the table of docs/guide/differences.md against the tests there are: each row names at least one.
func TestDifferencesAreProven(t *testing.T) {
	b, err := os.ReadFile("../docs/guide/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, name := testNames(t), regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	rows := 0
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if rows++; rows <= 2 {
			continue // the head
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		named := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 4 || len(named) == 0 {
			t.Errorf("four columns and a test, in %q", line)
		}
		for _, n := range named {
			if tests[n[1]] == "" {
				t.Errorf("there is no %s", n[1])
			}
		}
	}
	if rows < 18 {
		t.Errorf("%d rows", rows)
	}
}
