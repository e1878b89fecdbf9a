package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// chain is an expression such as g.crew[0].Lit taken apart: a variable, then fields and elements. Addresses and what they
// point to are the same chain.
type chain struct {
	root types.Object
	path []step
}

type step struct {
	field *types.Var // nil: an element
	in    types.Type // what the field is of; may be a pointer
	index string
}

func (a step) same(b step) bool { return a.field == b.field && a.index == b.index }

// within reports whether c begins with o, and returns what follows.
func (c chain) within(o chain) (rest []step, ok bool) {
	if c.root != o.root || len(c.path) < len(o.path) || !slices.EqualFunc(c.path[:len(o.path)], o.path, step.same) {
		return nil, false
	}
	return c.path[len(o.path):], true
}

// String writes the chain as it may stand in a program.
func (c chain) String() string {
	var b strings.Builder
	b.WriteString(c.root.Name())
	for _, s := range c.path {
		switch {
		case s.field == nil:
			b.WriteString("[" + s.index + "]")
		default:
			b.WriteString("." + s.field.Name())
		}
	}
	return b.String()
}

// chains resolves expressions of a package to chains, through variables that are another name for something.
type chains struct {
	info  *types.Info
	alias map[types.Object]ast.Expr // variables that are set once, to this
	set   map[types.Object]int      // how often a variable is set after its declaration
}

func chainsOf(pass *analysis.Pass) *chains {
	c := &chains{info: pass.TypesInfo, alias: map[types.Object]ast.Expr{}, set: map[types.Object]int{}}
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					var from ast.Expr
					if i < len(n.Rhs) {
						from = n.Rhs[i] // of v, ok := x.(T) too
					}
					c.bind(l, from)
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if i < len(n.Values) {
						c.bind(id, n.Values[i])
					}
				}
			case *ast.IncDecStmt:
				c.bind(n.X, nil)
			case *ast.RangeStmt:
				c.bind(n.Key, nil)
				c.bind(n.Value, nil)
			case *ast.TypeSwitchStmt:
				c.cases(n)
			case *ast.UnaryExpr:
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
					if _, pointer := c.info.TypeOf(id).Underlying().(*types.Pointer); pointer {
						c.set[c.info.Uses[id]]++ // may be set through its address
					}
				}
			}
			return true
		})
	}
	return c
}

func (c *chains) bind(to, from ast.Expr) {
	id, ok := to.(*ast.Ident)
	if !ok {
		return
	}
	if obj := c.info.Defs[id]; obj != nil {
		if from != nil {
			c.alias[obj] = from
		}
	} else if obj := c.info.Uses[id]; obj != nil {
		c.set[obj]++
	}
}

// cases binds the variables of switch v := x.(type).
func (c *chains) cases(n *ast.TypeSwitchStmt) {
	assign, ok := n.Assign.(*ast.AssignStmt)
	if !ok {
		return
	}
	for _, clause := range n.Body.List {
		if obj := c.info.Implicits[clause]; obj != nil {
			c.alias[obj] = assign.Rhs[0]
		}
	}
}

// of resolves e. It is not ok if e is not a chain, or its variable may stand for several things.
func (c *chains) of(e ast.Expr) (ch chain, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.ident(e)
	case *ast.StarExpr:
		return c.of(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return c.of(e.X)
		}
	case *ast.TypeAssertExpr:
		return c.of(e.X)
	case *ast.CallExpr:
		if c.info.Types[e.Fun].IsType() && len(e.Args) == 1 {
			return c.of(e.Args[0])
		}
	case *ast.IndexExpr:
		index := ast.Unparen(e.Index)
		id, named := index.(*ast.Ident)
		if tv := c.info.Types[index]; tv.Value == nil && (!named || c.set[c.info.Uses[id]] > 0) {
			return ch, false
		}
		if ch, ok = c.of(e.X); ok {
			ch.path = append(slices.Clip(ch.path), step{index: types.ExprString(index)})
		}
		return ch, ok
	case *ast.SelectorExpr:
		return c.selector(e)
	}
	return ch, false
}

func (c *chains) ident(id *ast.Ident) (chain, bool) {
	obj := c.info.ObjectOf(id)
	v, ok := obj.(*types.Var)
	if !ok || c.set[v] > 0 {
		return chain{}, false
	}
	if from := c.alias[v]; from != nil {
		if ch, ok := c.of(from); ok && refers(v.Type()) {
			return ch, true
		}
	}
	return chain{root: v}, true
}

// refers reports whether values of t stand for something elsewhere: a copied struct is another one.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Slice, *types.Map:
		return true
	}
	return false
}

func (c *chains) selector(e *ast.SelectorExpr) (chain, bool) {
	sel := c.info.Selections[e]
	if sel == nil { // of a package
		return c.ident(e.Sel)
	}
	if sel.Kind() != types.FieldVal {
		return chain{}, false
	}
	ch, ok := c.of(e.X)
	if !ok {
		return ch, false
	}
	ch.path = slices.Clip(ch.path)
	t := sel.Recv()
	for _, i := range sel.Index() {
		st := structOf(pointee(t))
		if st == nil {
			return ch, false
		}
		f := st.Field(i)
		ch.path = append(ch.path, step{field: f, in: t})
		t = f.Type()
	}
	return ch, true
}

// pointee is what t points to, or t.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
