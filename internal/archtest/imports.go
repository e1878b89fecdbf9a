package archtest

import (
	"slices"
	"strings"
)

// Imports finds own imports that no rule allows, packages without a rule, rules without a package.
func Imports(t *Tree, r *Rules) []Problem {
	var ps problems
	for _, dir := range sorted(t.Packages) {
		pkg := t.Packages[dir]
		rule, ok := r.Packages[dir]
		if !ok {
			ps.add(dir, 0, "package without a rule: if the design has it, add to %s\n\t%s\n(core instead of may if it is "+
				"part of the sans-I/O core) with its row to %s", rulesFile, made(t, r, pkg, Rule{}).line(dir), docFile)
			continue
		}
		said := map[string]bool{} // one problem for each import, however many files make it
		for _, f := range pkg.Files {
			for _, imp := range t.Imports(f) {
				if imp.Own == "" || said[imp.Own] || allows(rule.Imports, imp.Own) {
					continue
				}
				if f.Test && (imp.Own == dir || allows(rule.Tests, imp.Own) || allows(r.TestsMay, imp.Own)) {
					continue
				}
				said[imp.Own] = true
				ps.add(f.Path, imp.Line, "%s may not import %s: if the design says that it may, write in %s\n\t%s",
					dir, imp.Own, rulesFile, made(t, r, pkg, rule).line(dir))
			}
		}
	}
	for _, dir := range sorted(r.Packages) {
		if t.Packages[dir] == nil {
			ps.add(dir, 0, "rule without a package: delete its line from %s", rulesFile)
		}
	}
	return ps
}

// StaleImports finds permissions that nobody uses. A pattern is used when any file of the package, test or not,
// imports something it covers.
func StaleImports(t *Tree, r *Rules) []Problem {
	var ps problems
	for _, dir := range sorted(r.Packages) {
		pkg, rule := t.Packages[dir], r.Packages[dir]
		if pkg == nil {
			continue // a matter of Imports
		}
		code, tests := own(t, pkg, false), own(t, pkg, true)
		for _, entry := range rule.Imports {
			using := code
			if strings.HasSuffix(entry, "*") {
				using = slices.Concat(code, tests)
			}
			if !slices.ContainsFunc(using, func(p string) bool { return covers(entry, p) }) {
				ps.add(dir, 0, "its rule allows %s, which no file imports: write in %s\n\t%s",
					entry, rulesFile, made(t, r, pkg, rule).line(dir))
			}
		}
		for _, entry := range rule.Tests {
			if !slices.ContainsFunc(tests, func(p string) bool { return covers(entry, p) }) || allows(rule.Imports, entry) ||
				allows(r.TestsMay, entry) {
				ps.add(dir, 0, "its rule allows tests %s, which none imports or which they may import anyway: write in %s\n\t%s",
					entry, rulesFile, made(t, r, pkg, rule).line(dir))
			}
		}
	}
	return ps
}

// Roots finds imports of what only composes others: programs are wired from packages, never the reverse.
func Roots(t *Tree, _ *Rules) []Problem {
	var ps problems
	for _, f := range t.Files {
		for _, imp := range t.Imports(f) {
			if imp.Own != "" && allows([]string{"cmd/*", "examples/*"}, imp.Own) {
				ps.add(f.Path, imp.Line, "nothing imports %s: move what you need into a package", imp.Own)
			}
		}
	}
	return ps
}

// own lists the packages of this module that the files of a package import, tests or the others, each once.
func own(t *Tree, pkg *Package, tests bool) []string {
	var list []string
	for _, f := range pkg.Files {
		if f.Test != tests {
			continue
		}
		for _, imp := range t.Imports(f) {
			if imp.Own != "" && !slices.Contains(list, imp.Own) {
				list = append(list, imp.Own)
			}
		}
	}
	slices.Sort(list)
	return list
}

// made is the rule that the package follows as it stands; patterns of the old rule that are in use stay.
func made(t *Tree, r *Rules, pkg *Package, old Rule) Rule {
	code, tests := own(t, pkg, false), own(t, pkg, true)
	now := Rule{Core: old.Core}
	for _, entry := range old.Imports {
		in := func(p string) bool { return covers(entry, p) }
		if strings.HasSuffix(entry, "*") && slices.ContainsFunc(slices.Concat(code, tests), in) {
			now.Imports = append(now.Imports, entry)
		}
	}
	for _, p := range code {
		if !allows(now.Imports, p) {
			now.Imports = append(now.Imports, p)
		}
	}
	for _, p := range tests {
		if p != pkg.Dir && !allows(now.Imports, p) && !allows(r.TestsMay, p) {
			now.Tests = append(now.Tests, p)
		}
	}
	return now
}
