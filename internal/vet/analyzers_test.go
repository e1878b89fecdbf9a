package vet

import (
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAnalyzers proves every diagnostic, and that its right counterpart is left alone: the comments in testdata/src say
// what is expected. Each package is for the analyzer of its name; those of other names are for all.
func TestAnalyzers(t *testing.T) {
	if testing.Short() {
		t.Skip("loads packages with the go command")
	}
	var mu sync.Mutex // packages are analysed side by side
	run := map[string]bool{}
	all := &analysis.Analyzer{Name: "all", Doc: "run the analyzer that a package is named for", Requires: []*analysis.Analyzer{declarations}}
	all.Run = func(pass *analysis.Pass) (any, error) {
		var own []*analysis.Analyzer
		for _, a := range Analyzers {
			if a.Name == pass.Pkg.Name() {
				own = append(own, a)
				mu.Lock()
				run[a.Name] = true
				mu.Unlock()
			}
		}
		if own == nil {
			own = Analyzers
		}
		for _, a := range own {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	packages := []string{"parts", "unrelated"}
	for _, a := range Analyzers {
		packages = append(packages, a.Name)
	}
	// Loaded once, for all: what they import is parsed along.
	analysistest.Run(t, analysistest.TestData(), all, packages...)
	for _, a := range Analyzers {
		if !run[a.Name] {
			t.Errorf("%s was not tested: make a package of its name in testdata/src", a.Name)
		}
	}
}

func TestValid(t *testing.T) {
	if err := analysis.Validate(Analyzers); err != nil {
		t.Error(err)
	}
}
