package vet

import (
	"go/ast"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
)

// FieldAddr checks how fields are named.
var FieldAddr = &analysis.Analyzer{
	Name: "fieldaddr",
	Doc: `check the fields named to MarkDirty, Override, Changes.Has and Class.OnRep

A field is named by its address in the entity that is meant, as in w.MarkDirty(e, &e.Lits). The address of a field of
another entity, a value, or the address of what is no slot panics when the game runs.`,
	Run: func(pass *analysis.Pass) (any, error) {
		if !isThrong(pass.Pkg) && imported(pass.Pkg) != nil {
			a := addresses{pass, chainsOf(pass), map[types.Object]types.Object{}}
			for _, f := range pass.Files {
				ast.Inspect(f, a.node)
			}
		}
		return nil, nil
	},
}

type addresses struct {
	*analysis.Pass
	chains *chains
	hooked map[types.Object]types.Object // a parameter of type Changes → the entity that it is about
}

func (a addresses) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncType:
		a.hook(n)
	case *ast.CallExpr:
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok {
			return true
		}
		f, ok := a.TypesInfo.Uses[sel.Sel].(*types.Func)
		if !ok || !isThrong(f.Pkg()) {
			return true
		}
		recv := a.TypesInfo.TypeOf(sel.X)
		switch name := f.Name(); {
		case isPointer(recv, "World") && (name == "MarkDirty" || name == "Override") && len(n.Args) > 0 && !n.Ellipsis.IsValid():
			a.fields(n.Args[0], n.Args[1:])
		case is(recv, "Changes") && name == "Has" && !n.Ellipsis.IsValid():
			a.has(sel.X, n.Args)
		case isPointer(recv, "Class") && name == "OnRep" && len(n.Args) == 2:
			a.onRep(n.Args[0])
		}
	}
	return true
}

// hook remembers which entity the Changes of a function are about: the one that it is given with them.
func (a addresses) hook(f *ast.FuncType) {
	var changes, entity types.Object
	entities := 0
	for _, p := range f.Params.List {
		for _, id := range p.Names {
			obj := a.TypesInfo.Defs[id]
			if obj == nil {
				continue
			}
			if is(obj.Type(), "Changes") {
				changes = obj
			} else if p, ok := obj.Type().Underlying().(*types.Pointer); ok && isClass(p.Elem()) {
				entity = obj
				entities++
			}
		}
	}
	if changes != nil && entities == 1 {
		a.hooked[changes] = entity
	}
}

func (a addresses) has(c ast.Expr, args []ast.Expr) {
	ch, ok := a.chains.of(c)
	if !ok || len(ch.path) > 0 || a.hooked[ch.root] == nil {
		for _, arg := range args {
			a.isAddress(arg, "e")
		}
		return
	}
	of := chain{root: a.hooked[ch.root]}
	for _, arg := range args {
		a.field(of, of.root.Type(), arg)
	}
}

func (a addresses) fields(entity ast.Expr, args []ast.Expr) {
	of, ok := a.chains.of(entity)
	for _, arg := range args {
		if ok {
			a.field(of, a.TypesInfo.TypeOf(entity), arg)
		} else {
			a.isAddress(arg, types.ExprString(entity))
		}
	}
}

// onRep checks func(e *T) any { return &e.Field }.
func (a addresses) onRep(field ast.Expr) {
	lit, ok := ast.Unparen(field).(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	params := lit.Type.Params.List
	if !ok || len(ret.Results) != 1 || len(params) != 1 {
		return
	}
	t := a.TypesInfo.TypeOf(params[0].Type)
	if len(params[0].Names) != 1 || params[0].Names[0].Name == "_" {
		if _, ok := a.chains.of(ret.Results[0]); ok {
			a.Reportf(ret.Results[0].Pos(), "%s is not a field of the %s that the function is given: name the parameter, and return the address of its field",
				types.ExprString(ret.Results[0]), nameOf(t))
		}
		return
	}
	a.field(chain{root: a.TypesInfo.Defs[params[0].Names[0]]}, t, ret.Results[0])
}

// isAddress reports arg if it cannot be the address of a field.
func (a addresses) isAddress(arg ast.Expr, entity string) bool {
	switch t := a.TypesInfo.TypeOf(arg); t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	default:
		a.Reportf(arg.Pos(), "%s is a %s where a field of %s is named: pass its address, as in &%s.Field", types.ExprString(arg), nameOf(t), entity, entity)
		return false
	}
}

// field checks that arg is the address of a replicated field of the entity of, which has type t.
func (a addresses) field(of chain, t types.Type, arg ast.Expr) {
	if !a.isAddress(arg, of.String()) {
		return
	}
	ch, ok := a.chains.of(arg)
	if !ok {
		return
	}
	rest, ok := ch.within(of)
	if ok {
		for _, s := range rest[min(1, len(rest)):] {
			if _, pointer := s.in.Underlying().(*types.Pointer); pointer || s.field == nil {
				ok = false // what it points to lies elsewhere
			}
		}
	}
	if !ok {
		a.Reportf(arg.Pos(), "%s does not point into %s: pass the address of a field of the same entity, by way of %s", types.ExprString(arg), of, of)
		return
	}
	if isClass(pointee(t)) || len(rest) > 0 && isClass(pointee(rest[0].in)) {
		a.slot(of, rest, arg)
	}
}

// slot checks that the way from the entity ends at a slot, or at a struct whose fields are slots.
func (a addresses) slot(of chain, way []step, arg ast.Expr) {
	path := of
	for i, s := range way {
		if s.field == nil {
			break
		}
		path.path = append(path.path[:len(path.path):len(path.path)], s)
		switch _, tagged := tagOf(s); {
		case tagged && i < len(way)-1:
			a.Reportf(arg.Pos(), "%s is inside a slot: a struct is one slot, pass &%s", types.ExprString(arg), path)
			return
		case tagged:
			return
		case !s.field.Embedded() || structOf(s.field.Type()) == nil || i == len(way)-1 && !hasTags(s.field.Type(), nil):
			a.Reportf(arg.Pos(), "%s is not replicated: give it a rep tag", path)
			return
		}
	}
}

// tagOf is the rep tag of a field.
func tagOf(s step) (string, bool) {
	st := structOf(pointee(s.in))
	for i := range st.NumFields() {
		if st.Field(i) == s.field {
			return reflect.StructTag(st.Tag(i)).Lookup("rep")
		}
	}
	return "", false
}
