package throng

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestZeroEntity(t *testing.T) {
	var l lamp
	if !l.NetID().IsZero() || !l.Owner().IsZero() || l.Role() != RoleNone {
		t.Errorf("an entity in no world has id %v, owner %v, role %v", l.NetID(), l.Owner(), l.Role())
	}
	if Object(&l).entity() != &l.Entity {
		t.Error("the entity is not the one inside")
	}
	// A game's own name hides Entity's method, and makes the struct an Object none the less.
	type named struct {
		Entity
		NetID string
	}
	n := &named{NetID: "n"}
	if EntityOf(n) != &n.Entity || !EntityOf(nil).NetID().IsZero() || EntityOf(nil).Role() != RoleNone {
		t.Error("EntityOf is not the entity inside, or that of nothing is something")
	}
}

func TestRoles(t *testing.T) {
	var got []string
	for r := range RoleAutonomousProxy + 2 {
		got = append(got, r.String())
	}
	if got := strings.Join(got, " "); got != "none owner proxy host authority simulated proxy autonomous proxy Role(7)" {
		t.Error(got)
	}
}

// TestMisuse proves that the compiler, or go vet, stops what must not be done with an entity. Lines with a comment must
// be reported with its text, all others must not.
func TestMisuse(t *testing.T) {
	for _, tc := range []struct{ dir, command string }{
		{"testdata/misuse", "go build -gcflags=-e"},
		{"testdata/copies", "go vet"},
	} {
		args := strings.Fields(tc.command)
		out, err := exec.Command(args[0], append(args[1:], "./"+tc.dir)...).CombinedOutput()
		if err == nil {
			t.Errorf("%s finds nothing in %s", tc.command, tc.dir)
		}
		wantReports(t, tc.dir, string(out))
	}
}

var (
	report = regexp.MustCompile(`(?m)(\w+\.go:\d+):\d+: (.*)$`)
	quoted = regexp.MustCompile(`"([^"]*)"`)
)

// wantReports compares what a tool printed about a directory with the comments in its files.
func wantReports(t *testing.T, dir, out string) {
	t.Helper()
	got := map[string][]string{}
	for _, m := range report.FindAllStringSubmatch(out, -1) {
		got[m[1]] = append(got[m[1]], m[2])
	}
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s holds %v, %v", dir, files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(src), "\n") {
			at := fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
			_, comment, _ := strings.Cut(line, "// want ")
			want := quoted.FindAllStringSubmatch(comment, -1)
			if len(got[at]) != len(want) {
				t.Errorf("%s: %d reports, want %d: %q", at, len(got[at]), len(want), got[at])
				continue
			}
			for j, w := range want {
				if !strings.Contains(got[at][j], w[1]) {
					t.Errorf("%s: %s\nlacks %q", at, got[at][j], w[1])
				}
			}
		}
	}
}
