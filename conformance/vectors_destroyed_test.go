package conformance

import "github.com/throng-dev/throng/internal/wire"

type destroyed struct{ Entities []wire.Destroyed }

func destroyedVector() vector {
	d := destroyed{[]wire.Destroyed{{ID: lampID, Inc: wire.NewCount(3, 17)}, {ID: tankID, Inc: wire.NewCount(2, 1)}}}
	b, _ := wire.AppendDestroyed(nil, d.Entities)
	return message("133-destroyed", "Two placed entities that stay destroyed.", wire.MsgDestroyed, "Destroyed", d, b, func(b []byte) (any, error) {
		var d destroyed
		err := wire.ParseDestroyed(b, func(e wire.Destroyed) { d.Entities = append(d.Entities, e) })
		return d, err
	})
}
