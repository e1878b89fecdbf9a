package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// EntityCopy finds copies of entities. The copylocks of go vet finds most of them as well, but is not run with a vettool,
// and does not know of copies that append or copy makes, of sends, of what writes over an entity.
var EntityCopy = &analysis.Analyzer{
	Name: "entitycopy",
	Doc: `check for copies of throng entities

A throng.Entity knows its world, and the world knows where it lies. A copy is in no world and would be taken for one that
is; to write over the struct around it takes the entity out of its world.`,
	Run: func(pass *analysis.Pass) (any, error) {
		if !isThrong(pass.Pkg) {
			c := copies{pass}
			for _, f := range pass.Files {
				ast.Inspect(f, c.node)
			}
		}
		return nil, nil
	},
}

type copies struct{ *analysis.Pass }

func (c copies) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, r := range n.Rhs {
			c.assign(n.Lhs[i], r)
		}
	case *ast.ValueSpec:
		for _, v := range n.Values {
			c.value(v, "assignment")
		}
	case *ast.RangeStmt:
		c.bound(n.Key)
		c.bound(n.Value)
	case *ast.CallExpr:
		c.call(n)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			c.value(r, "return")
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			c.value(e, "literal")
		}
	case *ast.SendStmt:
		c.value(n.Value, "send")
	case *ast.FuncDecl:
		c.params(n.Recv)
	case *ast.FuncType:
		c.params(n.Params)
	}
	return true
}

func (c copies) assign(to, from ast.Expr) {
	if id, ok := to.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	t := c.TypesInfo.TypeOf(to)
	if star, ok := ast.Unparen(to).(*ast.StarExpr); ok && holdsEntity(t) && !c.copied(from) {
		c.report(to.Pos(), t, "assignment writes over", "whose place in the world is lost: set the fields of %s one by one", types.ExprString(star.X))
		return
	}
	c.value(from, "assignment")
}

// value reports e if to use it as a value copies an entity.
func (c copies) value(e ast.Expr, what string) {
	if c.copied(e) {
		c.report(e.Pos(), c.typeOf(e), what+" copies", "which is in no world: use a pointer")
	}
}

// typeOf is the type of a value; of v, ok := … that of v.
func (c copies) typeOf(e ast.Expr) types.Type {
	t := c.TypesInfo.TypeOf(e)
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		return tuple.At(0).Type()
	}
	return t
}

// copied reports whether e is an entity that lies somewhere, not one that is made here.
func (c copies) copied(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.CallExpr:
		return false
	case *ast.UnaryExpr:
		return e.Op == token.ARROW && holdsEntity(c.typeOf(e))
	}
	tv := c.TypesInfo.Types[e]
	return !tv.IsType() && holdsEntity(c.typeOf(e))
}

func (c copies) bound(e ast.Expr) {
	if id, ok := e.(*ast.Ident); e == nil || ok && id.Name == "_" {
		return
	}
	if t := c.TypesInfo.TypeOf(e); holdsEntity(t) {
		c.report(e.Pos(), t, "range copies", "which is in no world: range over the index, or over pointers")
	}
}

func (c copies) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		if t := c.TypesInfo.TypeOf(f.Type); holdsEntity(t) {
			c.report(f.Type.Pos(), t, "parameter copies", "which is in no world: use a pointer")
		}
	}
}

func (c copies) call(call *ast.CallExpr) {
	switch c.builtin(call.Fun) {
	case "new", "len", "cap", "Sizeof", "Alignof", "Offsetof":
		return
	case "append":
		if s, ok := c.typeOf(call).Underlying().(*types.Slice); ok && holdsEntity(s.Elem()) {
			c.report(call.Pos(), s.Elem(), "append moves", "which leaves its world behind when the slice grows: use a slice of pointers")
		}
		return
	case "copy":
		if s, ok := c.typeOf(call.Args[0]).Underlying().(*types.Slice); ok && holdsEntity(s.Elem()) {
			c.report(call.Pos(), s.Elem(), "copy copies", "which is in no world: use a slice of pointers")
		}
		return
	}
	what := "call"
	if c.TypesInfo.Types[call.Fun].IsType() {
		what = "conversion"
	}
	for _, a := range call.Args {
		c.value(a, what)
	}
}

// builtin is the name of a builtin function, or empty.
func (c copies) builtin(fun ast.Expr) string {
	fun = ast.Unparen(fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		fun = sel.Sel // of package unsafe
	}
	if id, ok := fun.(*ast.Ident); ok {
		if b, ok := c.TypesInfo.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

func (c copies) report(pos token.Pos, t types.Type, what, why string, args ...any) {
	holds := ""
	if !is(t, "Entity") {
		holds = " with its throng.Entity"
	}
	c.Reportf(pos, what+" %s"+holds+", "+why, append([]any{nameOf(t)}, args...)...)
}
