// Package throng is what the analyzers must know of the real one, without what it is made of, so that their tests load
// fast. What is planned is here before it is there: Motion, Override.
package throng

import "iter"

type Entity struct {
	_ noCopy
	w *World
}

func (e *Entity) entity() *Entity { return e }

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

type Object interface{ entity() *Entity }

type (
	Vec3     struct{ X, Y, Z float64 }
	Vec2     struct{ X, Y float64 }
	NetID    struct{ a, b uint64 }
	PlayerID struct{ a, b uint64 }
	Quat     struct{ X, Y, Z, W float64 }

	Vec3Quantize struct{ X, Y, Z float64 }
)

type NetCodec interface {
	NetForm() (name string, bytes int)
	AppendNet(b []byte) ([]byte, error)
	ParseNet(b []byte) (int, error)
}

type ClassConfig struct{ ID uint32 }

type Class[T any] struct{ name string }

func NewClass[T any, PT interface {
	*T
	Object
}](name string, cfg ClassConfig) *Class[T] {
	return &Class[T]{name}
}

type Hooks[T any] struct {
	OnSpawn func(w *World, e *T, local bool)
	OnRep   func(e *T, c Changes)
}

type Hook struct{}

func (c *Class[T]) Bind(h Hooks[T]) Hook                           { return Hook{} }
func (c *Class[T]) OnRep(field func(*T) any, notify func(*T)) Hook { return Hook{} }
func (c *Class[T]) All(w *World) iter.Seq[*T]                      { return nil }

func Motion[T, M any](c *Class[T], capture func(*T) M, apply func(*T, M)) any { return nil }

type Changes struct{ mask uint64 }

func (c Changes) Has(fields ...any) bool  { return false }
func (c Changes) Names() iter.Seq[string] { return nil }

type World struct{ turn uint32 }

func Join() (*World, error) { return nil, nil }

func (w *World) Tick(step func()) error                  { return nil }
func (w *World) Post(fn func())                          {}
func (w *World) Close() error                            { return nil }
func (w *World) Spawn(e Object) error                    { return nil }
func (w *World) Find(id NetID) (Object, bool)            { return nil, false }
func (w *World) MarkDirty(e Object, fields ...any) error { return nil }
func (w *World) Override(e Object, fields ...any) error  { return nil }
