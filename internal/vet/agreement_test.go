package vet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/layout"
)

// TestAgreement proves that the analyzers and the running game find the same faults in the same types, with the same words
// (B-017).
func TestAgreement(t *testing.T) {
	if testing.Short() {
		t.Skip("loads packages with the go command")
	}
	pkg := thisPackage(t)
	name := func(t string) string { return strings.TrimPrefix(t, "vet.") }
	game := map[string][]string{} // by type
	for _, class := range corpus {
		_, err := throng.NewSchema(class)
		for _, f := range parts(err) {
			game[name(f.Type)] = append(game[name(f.Type)], say(f))
		}
	}
	for _, n := range pkg.Types.Scope().Names() {
		if !strings.HasPrefix(n, "c") || !isClass(pkg.Types.Scope().Lookup(n).Type()) {
			continue
		}
		s := scan{pkg: pkg.Types, throng: imported(pkg.Types), sizes: pkg.TypesSizes}
		var vetted []string
		for _, f := range s.run(pkg.Types.Scope().Lookup(n).Type()) {
			if f.about != aHint {
				vetted = append(vetted, say(&f.Fault))
			}
		}
		want := game[n]
		delete(game, n)
		slices.Sort(want)
		slices.Sort(vetted)
		if !slices.Equal(vetted, want) {
			t.Errorf("%s: vet finds\n\t%s\nand the game\n\t%s", n, strings.Join(vetted, "\n\t"), strings.Join(want, "\n\t"))
		}
		t.Logf("%s: %d faults", n, len(want))
	}
	for n := range game {
		t.Errorf("%s was not vetted", n)
	}
}

// say writes a fault without the type of the field, which reflection and the compiler spell in different ways.
func say(f *layout.Fault) string {
	problem := f.Problem
	if rest, ok := strings.CutPrefix(problem, "("); ok {
		depth := 1
		end := strings.IndexFunc(rest, func(r rune) bool {
			depth += strings.Count("(", string(r)) - strings.Count(")", string(r))
			return depth == 0
		})
		problem = strings.TrimSpace(rest[end+1:])
	}
	return fmt.Sprintf("%s %s %q %s: %s", f.Rule, f.Field, f.Word, problem, f.Remedy)
}

// parts takes the faults out of an error of NewSchema.
func parts(err error) (faults []*layout.Fault) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		if f := (*layout.Fault)(nil); errors.As(e, &f) {
			faults = append(faults, f)
		}
	}
	return faults
}

// thisPackage loads this package with its tests.
func thisPackage(t *testing.T) *packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports,
		Tests: true,
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		if p.Types != nil && p.Types.Scope().Lookup("cFine") != nil {
			if len(p.Errors) > 0 {
				t.Fatal(p.Errors)
			}
			return p
		}
	}
	t.Fatal("the corpus was not loaded: nothing was compared")
	return nil
}

// leafLine finds the lines of package throng that make a type a leaf, with its canonical name.
var leafLine = regexp.MustCompile(`(?:TypeFor|Leaf)\[([A-Z]\w+)\]\([^\n"]*"(\w+)"`)

// TestLeaves proves that the types replicated as a whole are those that package throng gives to its layouts, and that the
// corpus asks for each.
func TestLeaves(t *testing.T) {
	const root = "../.."
	files, err := fs.Glob(os.DirFS(root), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		src, err := os.ReadFile(root + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || !strings.Contains(string(src), "layout.Leaf{") {
			continue
		}
		for _, m := range leafLine.FindAllStringSubmatch(string(src), -1) {
			if found[m[1]] = true; leaves[m[1]].canon != m[2] {
				t.Errorf("%s makes %s a leaf called %s: vet has %+v, add it to leaves in leaf.go", name, m[1], m[2], leaves[m[1]])
			}
		}
	}
	inCorpus := map[string]bool{}
	for f := range reflect.TypeFor[cLeaves]().Fields() {
		inCorpus[f.Type.Name()] = true
	}
	for name := range leaves {
		if !found[name] {
			t.Errorf("no line of package throng makes %s a leaf: delete it from leaves in leaf.go", name)
		}
		if !inCorpus[name] {
			t.Errorf("the corpus does not ask for %s: add it to cLeaves", name)
		}
	}
}
