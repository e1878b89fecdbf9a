package throngtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rules are those that Throng keeps: of behaviour (B) and of the protocol (R). B014, containers, is for a later version: of it the wire
// reserves a kind of slot (R05). Of R06 there is the bound: what is too long for a packet is refused where it is written, it does not go
// in pieces.
var rules = strings.Fields(`
	B001 B002 B003 B010 B011 B012 B013 B015 B016 B017 B018 B020 B021 B022 B023 B024 B025 B026
	B027 B028 B029 B030 B031 B032 B040 B041 B050 B051 B052 B053 B054 B055 B056 B057 B058 B060
	B061 B063 B064 B070 B071 B072 B073 B074 B080 B081 B082 B083 B090 B091 B092 B093 B100 B101
	B102 B110 B111 B112 B113 B114 B115 B116 B117 B118 B120 B121 B122 B123 B130 B131 B132 B133
	R01 R02 R03 R04 R05 R06 R10 R11 R12 R13 R14 R15 R16 R20 R21 R22 R22a R23 R24 R25 R26 R30
	R31 R32 R33 R34 R35 R36 R37 R40 R41 R42 R43 R50 R51 R52 R53 R60 R61 R62 R63`)

// TestEveryRuleIsNamed keeps the tests findable by the rules that they prove: each is named in some test file, by a test's name, a comment
// or the name of a case.
func TestEveryRuleIsNamed(t *testing.T) {
	number := regexp.MustCompile(`\b(?:Test|Fuzz)?([BR])-?([0-9]+a?)`)
	named := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "rules_test.go":
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range number.FindAllStringSubmatch(string(b), -1) {
			named[m[1]+m[2]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if !named[r] {
			t.Errorf("no test names %s", r)
		}
	}
	if named["B999"] || len(rules) != 113 {
		t.Errorf("%d rules", len(rules))
	}
}
