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
	o.looked, o.shard.work = true, true
	if o.follow {
		o.views = o.views[:0]
		o.lookFromAvatar()
	}
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
		o.looked, o.shard.work = true, true
	}
}
