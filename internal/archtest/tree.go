package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A Tree is the module as it lies on disk, whatever the build tags say.
type Tree struct {
	Module   string // module path of go.mod
	GoMod    string
	Files    []*File             // Go files in the order of their paths
	Packages map[string]*Package // by directory
	Texts    map[string]string   // every source that is text: Go, pages, documents, .ci/run
}

// A Package is one directory with Go files.
type Package struct {
	Dir   string
	Files []*File
}

// A File is one parsed Go file.
type File struct {
	Path, Dir string
	Test      bool
	Syntax    *ast.File
	fset      *token.FileSet
}

// textual are the endings of files that people write and read here.
var textual = map[string]bool{".go": true, ".md": true, ".html": true, ".js": true, ".css": true, ".sh": true}

// Load reads a module. It follows the go command in what it passes over: testdata, vendor, names that begin with a dot
// or an underscore, nested modules. All files that do not parse are reported at once.
func Load(fsys fs.FS) (*Tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("archtest: read the module: %w", err)
	}
	t := &Tree{GoMod: string(mod), Packages: map[string]*Package{}, Texts: map[string]string{}}
	for line := range strings.Lines(t.GoMod) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			t.Module = strings.TrimSpace(rest)
		}
	}
	if t.Module == "" {
		return nil, errors.New("archtest: go.mod names no module")
	}

	var faults []error
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return t.enter(fsys, p)
		case p == gateFile || textual[path.Ext(p)]:
			if fault := t.read(fsys, p); fault != nil {
				faults = append(faults, fault)
			}
		}
		return nil
	})
	return t, errors.Join(append(faults, err)...)
}

// enter decides whether a directory belongs to the module.
func (t *Tree) enter(fsys fs.FS, dir string) error {
	if dir == "." || dir == path.Dir(gateFile) {
		return nil
	}
	name := path.Base(dir)
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, dir+"/go.mod"); err == nil {
		return fs.SkipDir
	}
	return nil
}

func (t *Tree) read(fsys fs.FS, p string) error {
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	t.Texts[p] = string(src)
	name := path.Base(p)
	if path.Ext(p) != ".go" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return nil
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &File{Path: p, Dir: path.Dir(p), Test: strings.HasSuffix(p, "_test.go"), Syntax: syntax, fset: fset}
	t.Files = append(t.Files, f)
	pkg := t.Packages[f.Dir]
	if pkg == nil {
		pkg = &Package{Dir: f.Dir}
		t.Packages[f.Dir] = pkg
	}
	pkg.Files = append(pkg.Files, f)
	return nil
}

// An Import is one import of a file.
type Import struct {
	Path string // as written
	Own  string // directory, when it is a package of this module
	Name string // by which the file knows it, when it says so
	Line int
}

// Imports lists what a file imports.
func (t *Tree) Imports(f *File) []Import {
	var list []Import
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		imp := Import{Path: p, Line: f.Line(spec)}
		if p == t.Module {
			imp.Own = "."
		} else if dir, ok := strings.CutPrefix(p, t.Module+"/"); ok {
			imp.Own = dir
		}
		if spec.Name != nil {
			imp.Name = spec.Name.Name
		}
		list = append(list, imp)
	}
	return list
}

// Line is where a node begins.
func (f *File) Line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// uses visits every use of a name of a package, called or taken as a value.
func (t *Tree) uses(f *File, pkgPath string, visit func(sel *ast.SelectorExpr)) {
	for _, imp := range t.Imports(f) {
		if imp.Path != pkgPath {
			continue
		}
		local := imp.Name
		if local == "" {
			local = path.Base(pkgPath)
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == local {
					visit(sel)
				}
			}
			return true
		})
	}
}
