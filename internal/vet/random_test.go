package vet

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/payload"
)

// TestAgreementRandom compares the scan with package layout on random structs, tags that no compiler lets pass included.
func TestAgreementRandom(t *testing.T) {
	cfg := layout.Config{Skip: []reflect.Type{reflect.TypeFor[throng.Entity]()}, Leaves: map[reflect.Type]layout.Leaf{}}
	for _, typ := range pool {
		if l, ok := leaves[typ.Name()]; ok && typ.PkgPath() == throngPath {
			lf := layout.Leaf{Name: l.canon, Axes: l.axes, XYZ: func(any) (x, y, z float64) { return }}
			if l.coded {
				lf.Codec = layout.CodecOf[byte](0, nil, nil)
			}
			cfg.Leaves[typ] = lf
		}
	}
	inside := maps.Clone(cfg.Leaves)
	for _, id := range []reflect.Type{reflect.TypeFor[throng.NetID](), reflect.TypeFor[throng.PlayerID]()} {
		inside[id] = layout.Leaf{Name: leaves[id.Name()].canon, Codec: layout.CodecOf[byte](16, nil, nil)}
	}
	cfg.Init = func(of, field string, t reflect.Type) (l layout.Leaf, faults []error) {
		plan, faults := payload.Of(t, payload.Config{Of: of, Field: field, Skip: cfg.Skip, Leaves: inside, Limit: layout.MaxValue})
		if plan != nil {
			l = layout.Leaf{Name: plan.Canon(), Codec: plan.Codec()}
		}
		return l, faults
	}
	const seed = 17
	r := generator{rand.New(rand.NewPCG(seed, 0))}
	c := converter{seen: map[reflect.Type]*types.Named{}, pkgs: map[string]*types.Package{}}
	faults := 0
	for i := range 3000 {
		typ, motion := r.structure(0, 1+r.IntN(8)), r.structure(1, 1+r.IntN(4))
		cfg.Motion = motion
		_, err := layout.Of(typ, "random", cfg)
		var want, got []string
		for _, f := range parts(err) {
			want = append(want, say(f))
		}
		pkg := c.pkg("random")
		named := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "T", nil), c.of(typ).Underlying(), nil)
		s := scan{pkg: pkg, throng: c.pkg(throngPath), sizes: types.SizesFor("gc", "amd64"), motion: c.of(motion)}
		for _, f := range s.run(named) {
			if f.about != aHint {
				got = append(got, say(&f.Fault))
			}
		}
		// The motion struct has no name here: it is spelled in two ways.
		for _, list := range [][]string{got, want} {
			for i, f := range list {
				if before, _, ok := strings.Cut(f, "also stands in the motion struct"); ok {
					list[i] = before
				}
			}
			slices.Sort(list)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, struct %d, %v with motion %v: vet finds\n\t%s\nand the game\n\t%s", seed, i, typ, motion, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
		faults += len(want)
	}
	if faults < 3000 {
		t.Errorf("only %d faults: the structs are too good", faults)
	}
}

type generator struct{ *rand.Rand }

type (
	Pair  struct{ A, B int32 }
	Owned struct {
		A int32 `rep:"owner"`
		B *int32
	}
	Worn struct {
		Pair
		Hat []int8 `rep:""`
		Owned
		S string `rep:"init"`
	}
)

var pool = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[string](),
	reflect.TypeFor[time.Duration](), reflect.TypeFor[stance](), reflect.TypeFor[throng.Vec3](), reflect.TypeFor[throng.Vec2](),
	reflect.TypeFor[throng.NetID](), reflect.TypeFor[throng.PlayerID](), reflect.TypeFor[throng.Vec3Quantize10](), reflect.TypeFor[throng.Quat](), reflect.TypeFor[Pair](), reflect.TypeFor[Owned](), reflect.TypeFor[Worn](),
	reflect.TypeFor[throng.Entity](), reflect.TypeFor[time.Time](), reflect.TypeFor[node](), reflect.TypeFor[half](), reflect.TypeFor[struct{}](),
}

var tags = []string{`rep:""`, `rep:""`, `rep:""`, `rep:""`, ``, ``, `rep:"position"`, `rep:"owner"`, `rep:"init"`, `rep:"auth,persist"`,
	`rep:"manual,heartbeat"`, `rep:"manual,init"`, `rep:"persist"`, `rep:"none"`, `rep: "owner"`, `rep`, `rep:owner`, `rep:`, `json:"rep:"`}

func (r generator) typ(depth int) reflect.Type {
	switch r.IntN(12) {
	case 0, 1, 2:
		if depth < 4 {
			return r.structure(depth+1, r.IntN(4))
		}
	case 3:
		return specimens[r.IntN(len(specimens))]
	case 4:
		return reflect.ArrayOf(r.IntN(3), r.typ(depth+1))
	}
	return pool[r.IntN(len(pool))]
}

func (r generator) structure(depth, n int) reflect.Type {
	fields := make([]reflect.StructField, 0, n)
	for i := range n {
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: r.typ(depth), Tag: reflect.StructTag(tags[r.IntN(len(tags))])}
		if depth > 0 && r.IntN(3) > 0 {
			f.Tag = ""
		}
		if worn := reflect.TypeFor[Worn](); depth == 0 && i == 0 && r.IntN(4) == 0 {
			f.Name, f.Type, f.Anonymous = "Worn", worn, true
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// converter turns types of reflection into those of the compiler.
type converter struct {
	seen map[reflect.Type]*types.Named
	pkgs map[string]*types.Package
}

func (c converter) pkg(path string) *types.Package {
	if c.pkgs[path] == nil {
		c.pkgs[path] = types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	}
	return c.pkgs[path]
}

func (c converter) of(t reflect.Type) types.Type {
	if t.PkgPath() == "" {
		return c.plain(t)
	}
	if n := c.seen[t]; n != nil {
		return n
	}
	n := types.NewNamed(types.NewTypeName(token.NoPos, c.pkg(t.PkgPath()), t.Name(), nil), nil, nil)
	c.seen[t] = n
	n.SetUnderlying(c.plain(t))
	return n
}

func (c converter) plain(t reflect.Type) types.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(c.of(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(c.of(t.Elem()))
	case reflect.Array:
		return types.NewArray(c.of(t.Elem()), int64(t.Len()))
	case reflect.Map:
		return types.NewMap(c.of(t.Key()), c.of(t.Elem()))
	case reflect.Chan:
		return types.NewChan(types.SendRecv, c.of(t.Elem()))
	case reflect.Func:
		return types.NewSignatureType(nil, nil, nil, nil, nil, false)
	case reflect.Interface:
		return types.NewInterfaceType(nil, nil)
	case reflect.Struct:
		var fields []*types.Var
		var tags []string
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
				f.Type = reflect.TypeFor[*int8]() // what it points to does not matter, and may be all of the runtime
			}
			fields = append(fields, types.NewField(token.NoPos, c.pkg(f.PkgPath), f.Name, c.of(f.Type), f.Anonymous))
			tags = append(tags, string(f.Tag))
		}
		return types.NewStruct(fields, tags)
	}
	for basic, kind := range basics {
		if kind == t.Kind() {
			return types.Typ[basic]
		}
	}
	panic("no type for " + t.String())
}
