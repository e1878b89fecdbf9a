package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// KeepChanges finds Changes that outlive their hook.
var KeepChanges = &analysis.Analyzer{
	Name: "keepchanges",
	Doc: `check for throng.Changes that are kept beyond their hook

Changes are about the moment in which a hook runs. Kept longer they tell of values that have changed again since, and of
an entity that may be gone.`,
	Run: func(pass *analysis.Pass) (any, error) {
		if isThrong(pass.Pkg) || imported(pass.Pkg) == nil {
			return nil, nil
		}
		k := keeps{pass}
		for _, f := range pass.Files {
			var stack []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					stack = stack[:len(stack)-1]
					return true
				}
				stack = append(stack, n)
				k.node(n, stack)
				return true
			})
		}
		return nil, nil
	},
}

type keeps struct{ *analysis.Pass }

func (k keeps) node(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, r := range n.Rhs {
			if !k.outlives(n.Lhs[i], stack) {
				continue
			}
			if k.changes(r) {
				k.report(r, "is stored in "+types.ExprString(n.Lhs[i]))
			}
			k.captured(r, "a function that is stored")
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			if k.changes(e) {
				k.report(e, "is stored in a "+nameOf(k.TypesInfo.TypeOf(n)))
			}
		}
	case *ast.SendStmt:
		if k.changes(n.Value) {
			k.report(n.Value, "is sent away")
		}
		k.captured(n.Value, "a function that is sent away")
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			k.captured(r, "a function that is returned")
		}
	case *ast.GoStmt:
		for _, a := range n.Call.Args {
			if k.changes(a) {
				k.report(a, "is given to a goroutine")
			}
		}
		k.captured(n.Call.Fun, "a goroutine")
	case *ast.CallExpr:
		k.call(n)
	}
}

func (k keeps) call(n *ast.CallExpr) {
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "append" && len(n.Args) > 0 {
		for _, a := range n.Args[1:] {
			if k.changes(a) {
				k.report(a, "is appended to "+types.ExprString(n.Args[0]))
			}
		}
	}
	if f := started(k.TypesInfo, n); f != nil {
		k.captured(f, "a goroutine")
	}
	if isPost(k.TypesInfo, n) {
		for _, a := range n.Args {
			k.captured(a, "a function that Post runs later")
		}
	}
}

// changes reports whether e is Changes that came from elsewhere; zero ones made here do no harm.
func (k keeps) changes(e ast.Expr) bool {
	if _, made := ast.Unparen(e).(*ast.CompositeLit); made {
		return false
	}
	t := k.TypesInfo.TypeOf(e)
	return t != nil && (is(t, "Changes") || isPointer(t, "Changes"))
}

// outlives reports whether what is assigned to stays when the innermost function of the stack returns.
func (k keeps) outlives(to ast.Expr, stack []ast.Node) bool {
	id, ok := ast.Unparen(to).(*ast.Ident)
	if !ok {
		return true // a field, an element, what a pointer points to
	}
	obj := k.TypesInfo.ObjectOf(id)
	if obj == nil || id.Name == "_" {
		return false
	}
	for i := len(stack) - 1; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return !declaredIn(obj, stack[i])
		}
	}
	return true
}

// captured reports Changes from outside that e, a function that runs later, uses.
func (k keeps) captured(e ast.Expr, by string) {
	lit, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return
	}
	told := map[types.Object]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || !k.changes(id) {
			return true
		}
		if v, ok := k.TypesInfo.Uses[id].(*types.Var); ok && !v.IsField() && !declaredIn(v, lit) && !told[v] {
			told[v] = true
			k.reportAt(id.Pos(), id.Name, "is captured by "+by)
		}
		return true
	})
}

func (k keeps) report(e ast.Expr, what string) { k.reportAt(e.Pos(), types.ExprString(e), what) }

func (k keeps) reportAt(pos token.Pos, name, what string) {
	k.Reportf(pos, "%s %s: throng.Changes are for the hook they are given to, ask Has now, or keep the Names", name, what)
}
