package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// WorldGo finds worlds that two goroutines use.
var WorldGo = &analysis.Analyzer{
	Name: "worldgo",
	Doc: `check for a throng.World used in another goroutine

A World belongs to the goroutine that calls its Tick. Others may call Post, and nothing else. A goroutine that is begun
with a world and calls its Tick has become the owner: then the uses that remain outside are reported.`,
	Run: func(pass *analysis.Pass) (any, error) {
		if isThrong(pass.Pkg) || imported(pass.Pkg) == nil {
			return nil, nil
		}
		g := goroutines{pass, funcs(pass)}
		for _, f := range pass.Files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					g.body(d.Body)
				}
			}
		}
		return nil, nil
	},
}

type goroutines struct {
	*analysis.Pass
	funcs map[types.Object]*ast.FuncDecl
}

// use is one expression of type *throng.World.
type use struct {
	expr ast.Expr
	name string       // as written
	root types.Object // the variable that it begins with
	how  string       // the method called, or empty
}

// body looks for goroutines that a function begins.
func (g goroutines) body(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			g.begins(body, n, n.Call.Fun, n.Call.Args)
		case *ast.CallExpr:
			if f := started(g.TypesInfo, n); f != nil {
				g.begins(body, n, f, nil)
			}
		}
		return true
	})
}

// begins judges the goroutine that stmt begins, within body, by calling fun with args.
func (g goroutines) begins(body *ast.BlockStmt, stmt ast.Node, fun ast.Expr, args []ast.Expr) {
	var owned []use // whose Tick is called there
	switch fun := ast.Unparen(fun).(type) {
	case *ast.FuncLit:
		byName := map[string][]use{}
		var order []string
		for _, u := range g.uses(fun.Body) {
			if declaredIn(u.root, fun) {
				continue
			}
			if byName[u.name] == nil {
				order = append(order, u.name)
			}
			byName[u.name] = append(byName[u.name], u)
		}
		for _, name := range order {
			if ticked(byName[name]) {
				owned = append(owned, byName[name][0])
				continue
			}
			for _, u := range byName[name] {
				g.reportUse(u.expr.Pos(), name)
			}
		}
		owned = append(owned, g.given(fun.Type, fun.Body, args)...)
	case *ast.SelectorExpr: // go w.Method()
		if isPointer(g.TypesInfo.TypeOf(fun.X), "World") {
			if fun.Sel.Name != "Post" {
				g.reportUse(fun.Pos(), types.ExprString(fun.X))
			}
			return
		}
		owned = g.calls(fun.Sel, args)
	case *ast.Ident:
		owned = g.calls(fun, args)
	}
	g.outside(body, stmt, owned)
}

// calls judges go f(args).
func (g goroutines) calls(f *ast.Ident, args []ast.Expr) []use {
	if d := g.funcs[g.TypesInfo.Uses[f]]; d != nil {
		return g.given(d.Type, d.Body, args)
	}
	for _, a := range args {
		if u, ok := g.world(a); ok {
			g.Reportf(a.Pos(), "%s is given to a goroutine: a World belongs to the goroutine that calls its Tick, use Post from others", u.name)
		}
	}
	return nil
}

// given judges worlds that are arguments, by what the function does with its parameters. It returns those that it ticks.
func (g goroutines) given(f *ast.FuncType, body *ast.BlockStmt, args []ast.Expr) (owned []use) {
	var params []types.Object
	for _, p := range f.Params.List {
		for _, id := range p.Names {
			params = append(params, g.TypesInfo.Defs[id])
		}
	}
	for i, a := range args {
		u, ok := g.world(a)
		if !ok || i >= len(params) || params[i] == nil {
			continue
		}
		var mine []use
		for _, v := range g.uses(body) {
			if v.root == params[i] {
				mine = append(mine, v)
			}
		}
		switch {
		case ticked(mine):
			owned = append(owned, u)
		case len(mine) > 0:
			g.Reportf(a.Pos(), "%s is given to a goroutine that does not call its Tick: a World belongs to the goroutine that does, use Post from others", u.name)
		}
	}
	return owned
}

// outside reports what remains, after stmt, of worlds that a goroutine has taken over. Once something was waited for, that
// may have been the end of the goroutine.
func (g goroutines) outside(body *ast.BlockStmt, stmt ast.Node, owned []use) {
	if len(owned) == 0 {
		return
	}
	waited := body.End()
	ast.Inspect(body, func(n ast.Node) bool {
		if n != nil && n.Pos() > stmt.End() && n.Pos() < waited && g.waits(n) {
			waited = n.Pos()
		}
		return true
	})
	for _, u := range g.uses(body) {
		for _, o := range owned {
			if p := u.expr.Pos(); u.name == o.name && u.root == o.root && p > stmt.End() && p < waited {
				g.Reportf(u.expr.Pos(), "%s is used after a goroutine began that calls its Tick: a World belongs to that goroutine, use Post from others", u.name)
			}
		}
	}
}

// waits reports whether n may wait for another goroutine.
func (g goroutines) waits(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.RangeStmt:
		_, ok := g.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan)
		return ok
	case *ast.CallExpr:
		f := calledFunc(g.TypesInfo, n)
		return f != nil && f.Name() == "Wait"
	}
	return false
}

func ticked(uses []use) bool {
	for _, u := range uses {
		if u.how == "Tick" {
			return true
		}
	}
	return false
}

// uses lists the uses of worlds in n, but for Post, what runs by Post, and variables that are set.
func (g goroutines) uses(n ast.Node) (list []use) {
	skip := map[ast.Node]bool{}
	how := map[ast.Expr]string{}
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || skip[n] {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if isPost(g.TypesInfo, n) {
				skip[n] = true
				return false
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if _, ok := g.world(l); ok {
					skip[l] = true
				}
			}
		case *ast.SelectorExpr:
			how[n.X] = n.Sel.Name
			skip[n.Sel] = true
			if u, ok := g.world(n); ok {
				u.how = how[n]
				list = append(list, u)
				return false
			}
		case *ast.Ident:
			if u, ok := g.world(n); ok && g.TypesInfo.Defs[n] == nil {
				u.how = how[n]
				list = append(list, u)
			}
		}
		return true
	})
	return list
}

// world takes a variable or field of type *throng.World.
func (g goroutines) world(e ast.Expr) (use, bool) {
	e = ast.Unparen(e)
	if t := g.TypesInfo.TypeOf(e); t == nil || !isPointer(t, "World") {
		return use{}, false
	}
	for x := e; ; {
		switch y := x.(type) {
		case *ast.Ident:
			v, ok := g.TypesInfo.ObjectOf(y).(*types.Var)
			// A field that stands alone is a key of a literal.
			return use{expr: e, name: types.ExprString(e), root: v}, ok && !v.IsField()
		case *ast.SelectorExpr:
			if x = y.X; g.TypesInfo.Selections[y] == nil {
				x = y.Sel // of a package
			}
		case *ast.IndexExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return use{}, false
		}
	}
}

func (g goroutines) reportUse(pos token.Pos, name string) {
	g.Reportf(pos, "%s is used in another goroutine: a World belongs to the goroutine that calls its Tick, use Post from others", name)
}
