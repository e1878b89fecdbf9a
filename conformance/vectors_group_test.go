package conformance

import "github.com/throng-dev/throng/internal/wire"

func membershipVectors() []vector {
	var all []vector
	for _, v := range []struct {
		typ         byte
		typeName    string
		name, about string
		m           wire.Group
	}{
		{wire.MsgGroup, "Group", "130-group", "The client would like to be in a group.", wire.Group{In: true, Name: "red team"}},
		{wire.MsgGroupIs, "GroupIs", "131-group-is", "It is in the group.", wire.Group{In: true, Name: "red team"}},
		{wire.MsgGroupIs, "GroupIs", "132-group-is-refused", "It may not be in the group.", wire.Group{Reason: wire.RefusedRights, Name: "red team"}},
	} {
		all = append(all, message(v.name, v.about, v.typ, v.typeName, v.m, v.m.Append(nil, v.typ), func(b []byte) (any, error) { return wire.ParseGroup(v.typ, b) }))
	}
	return all
}

func restrictVectors() []vector {
	var all []vector
	for _, v := range []struct {
		typ         byte
		typeName    string
		name, about string
		m           wire.Entity
	}{
		{wire.MsgRestrict, "Restrict", "270-restrict", "An entity that is about to be announced is for a group.", wire.Entity{Nonce: 5, Group: "red team"}},
		{wire.MsgRestrict, "Restrict", "271-restrict-nobody", "An entity is for everyone again.", wire.Entity{Inc: wire.NewCount(3, 17), Nonce: 5}},
		{wire.MsgRestricted, "Restricted", "272-restricted", "What its new driver should know.", wire.Entity{Inc: wire.NewCount(3, 17), Group: "red team"}},
	} {
		v.m.ID = lampID
		all = append(all, message(v.name, v.about, v.typ, v.typeName, v.m, wire.AppendEntity(nil, v.typ, &v.m), func(b []byte) (any, error) { return wire.ParseEntity(v.typ, b) }))
	}
	return all
}
