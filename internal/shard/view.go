package shard

import "github.com/throng-dev/throng/internal/wire"

// Where a session looks from: chunks that it named, or its avatar.

func (o *Session) view(body []byte) error {
	follow, views, err := wire.ParseView(body, o.shard.scratch.views[:0])
	if err != nil {
		return err
	}
	o.shard.scratch.views = views
	o.follow, o.views = follow, append(o.views[:0], views...)
	if o.follow {
		o.views = o.views[:0]
		o.lookFromAvatar()
	}
	o.shard.eyes.open(o)
	o.lookAnew()
	return nil
}

func (o *Session) lookFromAvatar() {
	if !o.follow {
		return
	}
	if o.avatar == nil || !o.avatar.Place.In() {
		return // the last view stays until there is another
	}
	if len(o.views) != 1 || o.views[0] != o.avatar.Place.Chunk {
		o.views = append(o.views[:0], o.avatar.Place.Chunk)
		o.shard.eyes.open(o)
		o.lookAnew()
	}
}

// lookAnew says that the next flush must decide what the session has in reach.
func (o *Session) lookAnew() {
	o.shard.work = true
	if o.call(); !o.looked {
		o.looked = true
		o.shard.looking = append(o.shard.looking, o)
	}
}
