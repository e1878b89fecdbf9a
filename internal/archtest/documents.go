package archtest

import (
	"regexp"
	"strings"
)

const (
	docFile    = "docs/architecture.md"
	gateFile   = ".ci/run"
	readmeFile = "README.md"

	// testCommand is what the README promises a newcomer, so the gate begins with it.
	testCommand = "go test ./..."
)

// GoMod finds directives that would not hold for somebody who imports this module.
func GoMod(t *Tree, _ *Rules) []Problem {
	var ps problems
	n := 0
	for line := range strings.Lines(t.GoMod) {
		n++
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "replace" || word == "exclude" {
			ps.add("go.mod", n, "no %s: it is ignored in modules that import this one", word)
		}
	}
	return ps
}

// row is a line of a table in the document: its first cell is a package between backquotes.
var row = regexp.MustCompile("^\\| `([^` ]+)` \\|")

// Doc finds packages that the document does not tell of, or tells of though they are gone.
func Doc(t *Tree, r *Rules) []Problem {
	var ps problems
	text, ok := t.Texts[docFile]
	if !ok {
		ps.add(docFile, 0, "missing: it tells contributors what each package is")
		return ps
	}
	told := map[string]bool{}
	section, n := "", 0
	for line := range strings.Lines(text) {
		n++
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
		}
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		dir := found[1]
		_, exists := r.Packages[dir]
		switch {
		case told[dir]:
			ps.add(docFile, n, "a second row for %s", dir)
		case section == "Packages" && !exists:
			ps.add(docFile, n, "%s is not in %s: move the row to Planned, or delete it", dir, rulesFile)
		case section == "Planned" && exists:
			ps.add(docFile, n, "%s exists: move the row to Packages", dir)
		}
		told[dir] = true
	}
	for _, dir := range sorted(r.Packages) {
		if !told[dir] {
			ps.add(docFile, 0, "no row for %s: add below Packages\n\t| `%s` | what it is, in one phrase |", dir, dir)
		}
	}
	return ps
}

// firstStep is the first step that the gate runs: the word step, its name, its command.
var firstStep = regexp.MustCompile(`(?m)^step +\S+ +(.+)$`)

// Gate finds a gate that does not begin with the command of the README.
func Gate(t *Tree, _ *Rules) []Problem {
	var ps problems
	if found := firstStep.FindStringSubmatch(t.Texts[gateFile]); found == nil || found[1] != testCommand {
		ps.add(gateFile, 0, "the first step must be exactly %q", testCommand)
	}
	if readme, ok := t.Texts[readmeFile]; ok && !strings.Contains(readme, testCommand) {
		ps.add(readmeFile, 0, "does not show %q, the first step of %s", testCommand, gateFile)
	}
	return ps
}
