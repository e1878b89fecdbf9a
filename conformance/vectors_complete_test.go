package conformance

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// wireNumbers are the constants of internal/wire whose names begin with prefix.
func wireNumbers(t *testing.T, prefix string) map[string]int64 {
	files, err := filepath.Glob("../internal/wire/*.go")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int64{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, n := range v.Names {
					name, ours := strings.CutPrefix(n.Name, prefix)
					if !ours || name == "" || name[0] < 'A' || name[0] > 'Z' {
						continue
					}
					if len(v.Values) <= i {
						t.Fatalf("%s has no value of its own", n.Name)
					}
					lit, ok := v.Values[i].(*ast.BasicLit)
					if !ok {
						t.Fatalf("%s is no number", n.Name)
					}
					numbers[name], _ = constant.Int64Val(constant.MakeFromLiteral(lit.Value, lit.Kind, 0))
				}
			}
		}
	}
	return numbers
}

// TestEveryFormatHasAVector: no type of message and no kind of frame without bytes that another implementation can be held against.
func TestEveryFormatHasAVector(t *testing.T) {
	has := map[string]bool{}
	for _, v := range vectors(t) {
		has[v.is] = true
	}
	messages, frames := wireNumbers(t, "Msg"), wireNumbers(t, "Kind")
	if len(messages) < 45 || len(frames) < 10 {
		t.Fatalf("%d messages and %d frames: the constants were not found", len(messages), len(frames))
	}
	for name, n := range messages {
		if is := fmt.Sprintf("message %d %s", n, name); !has[is] {
			t.Errorf("no vector is %q", is)
		}
	}
	for name, n := range frames {
		if is := fmt.Sprintf("frame 0x%02x %s", n, name); !has[is] {
			t.Errorf("no vector is %q", is)
		}
	}
}
