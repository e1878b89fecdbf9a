package vet

import (
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// TestRepository proves that there is nothing to report about this module itself. Tests are left out: those of package
// throng declare on purpose what is refused.
func TestRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("loads packages with the go command")
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule,
		Dir:  "../..",
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 10 {
		t.Fatalf("%d packages: not the whole module", len(pkgs))
	}
	graph, err := checker.Analyze(Analyzers, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			t.Errorf("%v: %v", root, root.Err)
		}
		for _, d := range root.Diagnostics {
			t.Errorf("%v: %s: %s", root.Package.Fset.Position(d.Pos), root.Analyzer.Name, d.Message)
		}
	}
}
