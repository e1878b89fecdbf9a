package vet

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// RepTag checks the words of rep tags.
var RepTag = repAnalyzer("reptag", aTag, `check the words of throng's rep tags

A tag may hold owner, manual, heartbeat, init, position, auth and persist, with commas between. Reported are words that
are none, or contradict each other, tags where they have no effect, and classes of more than 64 slots.`)

// RepType checks the types of fields with rep tags.
var RepType = repAnalyzer("reptype", aType, `check the types of fields with a rep tag

A replicated field is a bool, a sized integer, a float, a string, one of throng's own types, a type with a codec, or a
struct of these. Reported is everything else, at any depth, with what to use instead.`)

// RepHint tells of declarations that are seldom meant.
var RepHint = repAnalyzer("rephint", aHint, `hint at rep tags that are allowed and seldom meant

Such are owner with heartbeat, tags inside a field that has none, and a field that shares its name with one of the motion
struct.`)

func repAnalyzer(name string, a about, doc string) *analysis.Analyzer {
	return &analysis.Analyzer{Name: name, Doc: doc, Requires: []*analysis.Analyzer{declarations}, Run: func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.ResultOf[declarations].([]fault) {
			if f.about == a {
				pass.Report(analysis.Diagnostic{Pos: f.pos, Category: f.Rule, Message: f.text()})
			}
		}
		return nil, nil
	}}
}

// declarations scans the structs of a package once, for the three analyzers.
var declarations = &analysis.Analyzer{
	Name: "throngdeclarations", Doc: "find what is wrong with the classes of a package",
	ResultType: reflect.TypeFor[[]fault](),
	Run:        func(pass *analysis.Pass) (any, error) { return scanPackage(pass), nil },
}

func scanPackage(pass *analysis.Pass) []fault {
	throng := imported(pass.Pkg)
	var all []fault
	for _, obj := range pass.TypesInfo.Defs {
		name, ok := obj.(*types.TypeName)
		if !ok || name.IsAlias() || structOf(name.Type()) == nil {
			continue
		}
		if _, isParam := name.Type().(*types.TypeParam); isParam {
			continue
		}
		// Other programs have rep tags too: a struct is ours if it is an entity, or stands where throng is known.
		if throng == nil && !holdsEntity(name.Type()) {
			continue
		}
		if !isClass(name.Type()) && !hasTags(name.Type(), nil) {
			continue
		}
		s := scan{pkg: pass.Pkg, throng: throng, sizes: pass.TypesSizes, pos: name.Pos()}
		all = append(all, s.run(name.Type())...)
	}
	for id, inst := range pass.TypesInfo.Instances {
		all = append(all, scanInstance(pass, throng, id, inst)...)
	}
	return once(all)
}

// isClass reports whether t embeds throng.Entity, by value or by pointer, itself or through another struct.
func isClass(t types.Type) bool {
	st := structOf(t)
	if st == nil {
		return false
	}
	for f := range st.Fields() {
		if f.Embedded() && (is(f.Type(), "Entity") || isPointer(f.Type(), "Entity") || isClass(f.Type())) {
			return true
		}
	}
	return false
}

// scanInstance scans what is only known where a class is made: the instance of a generic struct, the motion struct.
func scanInstance(pass *analysis.Pass, throng *types.Package, id *ast.Ident, inst types.Instance) []fault {
	f, ok := pass.TypesInfo.Uses[id].(*types.Func)
	if !ok || !isThrong(f.Pkg()) || inst.TypeArgs.Len() < 2 || structOf(inst.TypeArgs.At(0)) == nil || depends(inst.TypeArgs.At(0)) {
		return nil
	}
	t := inst.TypeArgs.At(0)
	s := scan{throng: throng, sizes: pass.TypesSizes, pos: id.Pos()}
	n, _ := types.Unalias(t).(*types.Named)
	switch {
	case f.Name() == "NewClass" && n != nil && n.TypeArgs().Len() > 0:
		return s.run(t)
	case f.Name() == "Motion":
		s.pkg, s.motion = pass.Pkg, inst.TypeArgs.At(1)
		return slices.DeleteFunc(s.run(t), func(f fault) bool { return f.Rule != "B-016" })
	}
	return nil
}

// once sorts faults and keeps of those that are the same the one with the shortest way to it: a struct that others embed
// is at fault itself.
func once(all []fault) (kept []fault) {
	slices.SortFunc(all, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(len(a.Field), len(b.Field)), cmp.Compare(a.Field, b.Field), cmp.Compare(a.text(), b.text()))
	})
	for _, f := range all {
		if !slices.ContainsFunc(kept, func(k fault) bool {
			return k.pos == f.pos && k.Word == f.Word && k.Problem == f.Problem && (k.Field == f.Field || strings.HasSuffix(f.Field, "."+k.Field))
		}) {
			kept = append(kept, f)
		}
	}
	return kept
}
