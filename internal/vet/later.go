package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// starters begin a goroutine with their last argument, by package and name.
var starters = map[[2]string]bool{
	{"sync", "Go"}:                          true, // of a WaitGroup
	{"golang.org/x/sync/errgroup", "Go"}:    true,
	{"golang.org/x/sync/errgroup", "TryGo"}: true,
	{"time", "AfterFunc"}:                   true,
}

// calledFunc is the function or method that a call names, nil for others.
func calledFunc(info *types.Info, call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr: // an instance
		id, _ = f.X.(*ast.Ident)
	}
	if id == nil {
		return nil
	}
	f, _ := info.Uses[id].(*types.Func)
	return f
}

// started is the function that a call begins in another goroutine, nil if it begins none.
func started(info *types.Info, call *ast.CallExpr) ast.Expr {
	f := calledFunc(info, call)
	if f == nil || f.Pkg() == nil || len(call.Args) == 0 || !starters[[2]string{f.Pkg().Path(), f.Name()}] {
		return nil
	}
	return call.Args[len(call.Args)-1]
}

// isPost reports whether a call is World.Post.
func isPost(info *types.Info, call *ast.CallExpr) bool {
	f := calledFunc(info, call)
	return f != nil && f.Name() == "Post" && isThrong(f.Pkg())
}

// funcs are the functions that a package declares.
func funcs(pass *analysis.Pass) map[types.Object]*ast.FuncDecl {
	m := map[types.Object]*ast.FuncDecl{}
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				m[pass.TypesInfo.Defs[d.Name]] = d
			}
		}
	}
	return m
}

// declaredIn reports whether obj is declared within n.
func declaredIn(obj types.Object, n ast.Node) bool { return within(obj.Pos(), n) }

func within(p token.Pos, n ast.Node) bool { return n.Pos() <= p && p < n.End() }
