package conformance

import "github.com/throng-dev/throng/internal/wire"

func memberVector() vector {
	member := wire.Member{Player: playerA, In: true, Name: "red team"}
	return message("133-member", "An authority puts a player into a group.", wire.MsgMember, "Member", member, member.Append(nil),
		func(b []byte) (any, error) { return wire.ParseMember(b) })
}

func viewerVectors() []vector {
	var all []vector
	for _, v := range []struct {
		name, about string
		m           wire.Audience
	}{
		{"273-audience", "An entity is for everybody in a group but its owner.", wire.Audience{ID: lampID, Group: "judged", Players: []wire.PlayerID{playerA}}},
		{"274-audience-only", "An entity is for nobody.", wire.Audience{ID: lampID, Only: true}},
	} {
		all = append(all, message(v.name, v.about, wire.MsgAudience, "Audience", v.m, v.m.Append(nil),
			func(b []byte) (any, error) { return wire.ParseAudience(b) }))
	}
	return all
}
