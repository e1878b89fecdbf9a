// Package vet finds at compile time what a schema, a world or a hook would refuse when the game runs.
//
// Its analyzers run under go vet, as the command throng-vet or as throng vet:
//
//	go vet -vettool=$(which throng-vet) ./...
//	throng vet ./...
//
// Each can be turned off, as in -rephint=false. This is all that they report.
//
// reptag, about the words of a rep tag:
//
//   - a word that is none, stands twice, has a value or spaces around it; an extra comma
//   - words that cannot stand together: init with manual, heartbeat, position or persist; position with owner or manual;
//     auth with manual or heartbeat; persist without auth
//   - a tag that is not well-formed, so that reflection does not see it
//   - a tag on a blank field, on one that is not exported, inside a slot, or in a struct embedded by pointer
//   - position on a type that is no place, or a second time
//   - more than 64 slots
//   - a field that also stands in the class's motion struct
//
// reptype, about the types of tagged fields, at any depth:
//
//   - int, uint, uintptr, complex numbers
//   - pointers, interfaces, functions, channels, unsafe pointers, slices, maps, arrays; recursion goes through one of these
//   - another entity; a value without size or without fields; a field of a struct that is not exported; a value over 16 KiB
//   - throng.Entity embedded by pointer
//
// rephint, about what is allowed and seldom meant:
//
//   - owner with heartbeat: what goes to the owner alone is in no keyframe
//   - a field without a tag, of a struct type with tags inside
//   - a field that has the name of one in the motion struct, and another type
//
// entitycopy, about structs that hold a throng.Entity:
//
//   - copies: assigned, passed, returned, sent, converted, in a range clause, in a composite literal, by copy or append
//   - *e = …, which writes over the Entity
//
// fieldaddr, about the fields named to World.MarkDirty, World.Override, Changes.Has and Class.OnRep:
//
//   - a field of another entity than the one that is meant
//   - a value instead of an address; a field without a rep tag; a part of a slot
//
// worldgo, about goroutines begun by go, sync.WaitGroup.Go, errgroup.Group.Go and time.AfterFunc:
//
//   - a *throng.World used there otherwise than by Post. A goroutine that calls Tick owns the world: then the uses that
//     remain outside are reported.
//
// keepchanges, about the throng.Changes given to a hook:
//
//   - stored in a field, an element, a variable outside of the hook, a channel
//   - captured by a function that runs later: in a goroutine, by Post, stored or returned
//
// Where the running game would say the same, the words are the same: the rules for words are those of package layout,
// and a test compares the rest with it.
package vet

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzers are all checks.
var Analyzers = []*analysis.Analyzer{RepTag, RepType, RepHint, EntityCopy, FieldAddr, WorldGo, KeepChanges}

// throngPath is the package whose users are checked.
const throngPath = "github.com/throng-dev/throng"

// isThrong reports whether p is that package. Built for a test, its path has the test behind it.
func isThrong(p *types.Package) bool {
	if p == nil {
		return false
	}
	path, _, _ := strings.Cut(p.Path(), " ")
	return path == throngPath
}

// imported is package throng as p sees it, or nil.
func imported(p *types.Package) *types.Package {
	if isThrong(p) {
		return p
	}
	for _, i := range p.Imports() {
		if isThrong(i) {
			return i
		}
	}
	return nil
}

// is reports whether t is the type of that name in package throng, or an instance of it.
func is(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && isThrong(n.Obj().Pkg())
}

// isPointer reports whether t is a pointer to the type of that name in package throng.
func isPointer(t types.Type, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && is(p.Elem(), name)
}

// structOf is the struct that t is, or nil.
func structOf(t types.Type) *types.Struct {
	s, _ := t.Underlying().(*types.Struct)
	return s
}

// holdsEntity reports whether a value of type t has a throng.Entity in it.
func holdsEntity(t types.Type) bool {
	if t == nil {
		return false
	}
	if is(t, "Entity") {
		return true
	}
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return false
	case *types.Array:
		return holdsEntity(u.Elem())
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holdsEntity(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsEntity(f.Type()) {
				return true
			}
		}
	}
	return false
}

// nameOf writes a type as its user does: with the names of packages, not their paths.
func nameOf(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
