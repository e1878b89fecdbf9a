package vet

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/payload"
)

// payloads is the walk over the type of an init field that is no value of a slot: package payload on the types of the compiler.
type payloads struct {
	s      *scan
	nodes  []*piece
	counts []counted
}

// piece is a type within the type, as far as faults depend on it.
type piece struct {
	t     types.Type
	size  int64
	least int64 // bytes on the wire
	open  bool  // depends on a type parameter, or on what a codec says when the game runs
}

// counted is a slice or map.
type counted struct {
	t         types.Type
	path      string
	key, elem *piece
}

// stopped stands for a fault.
var stopped = &piece{size: 1, least: 1}

// payload is scan.compile for what an init field may hold beyond what a slot may.
func (s *scan) payload(t types.Type, path string) (c compiled) {
	if st := structOf(t); st != nil && st.NumFields() == 0 {
		s.fault(aType, "B-013", path, "", "("+nameOf(t)+") has no size, so nothing to send", "use a bool, or remove the field")
		return c
	}
	p := payloads{s: s}
	n, canon := p.compile(t, path)
	for _, k := range p.counts {
		size, least, open := k.elem.size, k.elem.least, k.elem.open
		if k.key != nil {
			size, least, open = size+k.key.size, least+k.key.least, open || k.key.open
		}
		if !open && size > payload.PerByte*max(least, 1) {
			s.fault(aType, "B-013", k.path, "", fmt.Sprintf("(%s) has elements that take %d bytes of memory, and as few as %d on the wire", nameOf(k.t), size, least),
				"use smaller elements, or give them a codec of fixed width: what others send must not cost much more memory than it has bytes")
		}
	}
	if n.least > layout.MaxValue && !n.open {
		s.fault(aType, "B-013", path, "", fmt.Sprintf("(%s) takes at least %d bytes", nameOf(t), n.least), fmt.Sprintf("send less at once: at most %d", layout.MaxValue))
	}
	return compiled{canon: canon, open: n.open}
}

func (p *payloads) compile(t types.Type, path string) (*piece, string) {
	s := p.s
	t = types.Unalias(t)
	fault := func(problem, remedy string) (*piece, string) {
		s.fault(aType, "B-013", path, "", problem, remedy)
		return stopped, ""
	}
	if l, ok := s.leafOf(t); ok {
		switch {
		case l.problem != "":
			s.fault(aType, "B-012", path, "", "("+nameOf(t)+") "+l.problem, l.remedy)
			return stopped, l.canon
		case !depends(t) && s.sizes.Sizeof(t) == 0:
			return fault("("+nameOf(t)+") has no size, so nothing to send", "use a bool, or remove the field")
		}
		own, _ := t.(*types.Named)
		n := &piece{t: t, least: 1, open: depends(t) || !isThrong(own.Obj().Pkg())} // what a codec of the game takes is known when it runs
		if !depends(t) {
			n.size = s.sizes.Sizeof(t)
		}
		if !l.coded {
			n.least = n.size // plain memory
		}
		return n, l.canon
	}
	if is(t, "Entity") {
		return fault("is another entity", "use its throng.NetID")
	}
	if _, ok := t.(*types.TypeParam); ok {
		return &piece{t: t, least: 1, open: true}, ""
	}
	kind := kindOf(t)
	if problem, remedy := payload.Refusal(kind); problem != "" {
		return fault("("+nameOf(t)+") "+problem, remedy)
	}
	if i := slices.IndexFunc(p.nodes, func(n *piece) bool { return types.Identical(n.t, t) }); i >= 0 {
		return p.nodes[i], "^" + strconv.Itoa(len(p.nodes)-i)
	}
	n := &piece{t: t, open: depends(t)}
	if !n.open {
		if n.size = s.sizes.Sizeof(t); n.size == 0 {
			return fault("("+nameOf(t)+") has no size, so nothing to send", "use a bool, or remove it; map[K]struct{} is a set")
		}
	}
	p.nodes = append(p.nodes, n)
	defer func() { p.nodes = p.nodes[:len(p.nodes)-1] }()
	switch u := t.Underlying().(type) {
	case *types.Slice:
		n.least = 1
		elem, text := p.compile(u.Elem(), path+"[]")
		p.counts = append(p.counts, counted{t, path, nil, elem})
		return n, "[]" + text
	case *types.Array:
		elem, text := p.compile(u.Elem(), path+"[]")
		n.least, n.open = max(1, elem.least)*u.Len(), n.open || elem.open
		return n, "[" + strconv.FormatInt(u.Len(), 10) + "]" + text
	case *types.Map:
		n.least = 1
		key, kt := p.compile(u.Key(), path+"[key]")
		elem, et := &piece{t: u.Elem()}, "struct{}"
		if st := structOf(u.Elem()); st == nil || st.NumFields() > 0 {
			elem, et = p.compile(u.Elem(), path+"[]")
		}
		p.counts = append(p.counts, counted{t, path, key, elem})
		return n, "map[" + kt + "]" + et
	case *types.Struct:
		return p.structure(n, t, u, path)
	}
	p.plain(n, t, kind)
	if d, ok := t.(*types.Named); ok && d.Obj().Name() == "Duration" && d.Obj().Pkg() != nil && d.Obj().Pkg().Path() == "time" {
		return n, "duration"
	}
	return n, kind.String()
}

func (p *payloads) plain(n *piece, t types.Type, kind reflect.Kind) {
	if n.least = 1; kind != reflect.String {
		n.least = p.s.sizes.Sizeof(t)
	}
}

func (p *payloads) structure(n *piece, t types.Type, st *types.Struct, path string) (*piece, string) {
	s := p.s
	var names []string
	for i := range st.NumFields() {
		f := st.Field(i)
		name := join(path, f.Name())
		if f.Name() == "_" {
			continue
		}
		if !f.Exported() && (!f.Embedded() || structOf(f.Type()) == nil) {
			s.fault(aType, "B-013", name, "", "is not exported, so "+nameOf(t)+" keeps its meaning to itself", "export the field, or give the type a throng.NetCodec")
			continue
		}
		if tag := reflect.StructTag(st.Tag(i)).Get("rep"); tag != "" {
			s.fault(aTag, "B-011", name, tag, "stands inside a value, where it has no effect", "remove the words")
		}
		in, text := p.compile(f.Type(), name)
		names = append(names, f.Name()+" "+text)
		n.least, n.open = n.least+in.least, n.open || in.open
	}
	if len(names) == 0 {
		s.fault(aType, "B-013", path, "", "("+nameOf(t)+") has no fields, so nothing to send", "use a bool, or remove the field")
	}
	return n, "struct{" + strings.Join(names, "; ") + "}"
}
