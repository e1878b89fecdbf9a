package throng

import "errors"

// ErrStandIn: the struct is a local stand-in.
var ErrStandIn = errors.New("it is a local stand-in: it is in no world, so nothing is sent of it; ask the authority by its key")

// entityStandIn is a flag of Entity.
const entityStandIn = 2

// MakeStandIn marks the struct of a body that this program shows by itself, for something that a trusted server simulates: its
// role is RoleAuthority, as nobody else's copy follows it, it is in no world, and what would send something of it fails with
// ErrStandIn. With on false it is an ordinary struct again. It panics for an entity that is in a world.
func MakeStandIn(o Object, on bool) {
	e := o.entity()
	switch {
	case e.w != nil:
		panic("throng: MakeStandIn of an entity that is in a world: stand-ins are structs of their own")
	case on:
		e.flags, e.role = entityStandIn, RoleAuthority
	default:
		e.flags, e.role = 0, RoleNone
	}
}

func standIn(o Object) bool { return o.entity().flags&entityStandIn != 0 }

// unused is why nothing can be done with a struct that is in no world; nil: nothing special.
func unused(o Object) error {
	switch {
	case pooled(o):
		return ErrPooled
	case standIn(o):
		return ErrStandIn
	}
	return nil
}
