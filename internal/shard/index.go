package shard

// index finds a pair by its handle: a table of places without pointers, probed one after the other. A flush looks up each record
// of the ring around an observer's reach, which the general map makes several times slower.
type index struct {
	at   []place32 // a power of two of them; nil: empty
	used int
}

// place32 says where the pair of a handle is; handle 0: nowhere.
type place32 struct {
	handle uint32
	pos    int32
}

const smallIndex = 16

func (x *index) slot(handle uint32) int {
	return int(handle*0x9E3779B1>>8) & (len(x.at) - 1)
}

func (x *index) get(handle uint32) (pos int32, ok bool) {
	if len(x.at) == 0 {
		return 0, false
	}
	for i := x.slot(handle); ; i = (i + 1) & (len(x.at) - 1) {
		switch x.at[i].handle {
		case handle:
			return x.at[i].pos, true
		case 0:
			return 0, false
		}
	}
}

func (x *index) set(handle uint32, pos int32) {
	if 2*(x.used+1) > len(x.at) {
		x.grow()
	}
	i := x.slot(handle)
	for ; x.at[i].handle != 0; i = (i + 1) & (len(x.at) - 1) {
		if x.at[i].handle == handle {
			x.at[i].pos = pos
			return
		}
	}
	x.at[i] = place32{handle, pos}
	x.used++
}

func (x *index) grow() {
	old := x.at
	x.at, x.used = make([]place32, max(smallIndex, 2*len(old))), 0
	for _, p := range old {
		if p.handle != 0 {
			x.set(p.handle, p.pos)
		}
	}
}

// remove takes a handle out and moves up what a probe would not find any more.
func (x *index) remove(handle uint32) {
	if len(x.at) == 0 {
		return
	}
	mask := len(x.at) - 1
	i := x.slot(handle)
	for x.at[i].handle != handle {
		if x.at[i].handle == 0 {
			return
		}
		i = (i + 1) & mask
	}
	x.used--
	for j := (i + 1) & mask; x.at[j].handle != 0; j = (j + 1) & mask {
		if home := x.slot(x.at[j].handle); (j-home)&mask >= (j-i)&mask {
			x.at[i] = x.at[j]
			i = j
		}
	}
	x.at[i] = place32{}
}
