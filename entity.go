package throng

import (
	"strconv"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/registry"
)

// Entity is the identity of a replicated value. Embed it by value; the struct around it is then an [Object]. The zero
// Entity is in no world: World.Spawn puts it into one, OnDestroy is the end of that.
//
// An Entity has an address and must not be copied after it was spawned: go vet reports copies of the struct around it.
type Entity struct {
	_ noCopy

	// Set by the world, on its goroutine, at spawn and cleared when the body is gone.
	w      *World
	c      *registry.Copy
	class  *class
	ptr    delta.Ptr
	shadow *delta.Shadow // nil where this client does not drive it
	id     NetID
	owner  PlayerID
	role   Role
	flags  uint8 // the world's
}

// NetID names the entity, the same on every client. It is zero before the entity was spawned.
func (e *Entity) NetID() NetID { return e.id }

// Owner is the player whose client drives the entity. It is zero while the host does.
func (e *Entity) Owner() PlayerID { return e.owner }

// Role says what this client's copy of the entity is.
func (e *Entity) Role() Role { return e.role }

func (e *Entity) entity() *Entity { return e }

func (e *Entity) embedThrongEntity() {}

// Object is a pointer to a struct that embeds [Entity]. Nothing else can be one.
type Object interface {
	embedThrongEntity() // what the compiler says is missing: it names the first method in the order of the alphabet
	entity() *Entity
}

// EntityOf is the identity of an Object whose class the caller does not know, as hooks of Config get it: EntityOf(o).NetID(). It is part of the
// object, also where a field of the game hides it by its name. EntityOf(nil) is that of nothing, in no world.
func EntityOf(o Object) *Entity {
	if o == nil {
		return new(Entity)
	}
	return o.entity()
}

// Role is what a client's copy of an entity is. It follows from the owner. Which copy is the source now is
// what World.Drives tells: a host-owned entity has RoleHost everywhere.
type Role uint8

const (
	RoleNone  Role = iota // in no world
	RoleOwner             // this client's player owns it: this copy is the source
	RoleProxy             // another player owns it: this copy follows
	RoleHost              // nobody owns it: the copy of whoever is host is the source

	RoleAuthority       // of an actor, at the trusted server. A local stand-in has it too: nobody else's copy follows it
	RoleSimulatedProxy  // of an actor, at a client: this copy follows
	RoleAutonomousProxy // of an actor that the server granted to this client's player: this copy is the source of its view plane
)

// String returns none, owner, proxy, host, authority, simulated proxy or autonomous proxy.
func (r Role) String() string {
	return nameOf("Role", int(r), "none", "owner", "proxy", "host", "authority", "simulated proxy", "autonomous proxy")
}

// nameOf names value v of an enumeration that starts at 0.
func nameOf(what string, v int, names ...string) string {
	if v < len(names) {
		return names[v]
	}
	return what + "(" + strconv.Itoa(v) + ")"
}

// noCopy makes go vet report copies of what holds it: vet takes it for a lock.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
