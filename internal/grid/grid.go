package grid

// Place is what the grid keeps of one entity; the zero value is nowhere.
type Place struct {
	Chunk Chunk
	cell  *Cell // nil: nowhere
	slot  int32 // index in the cell's list
}

// In reports whether the entity stands in the grid.
func (p *Place) In() bool { return p.cell != nil }

// Cell is one occupied chunk.
type Cell struct {
	Chunk   Chunk
	Handles []uint32 // who is here, in no order
	home    *bucket
	slot    int32     // index in the layer's list
	few     [5]uint32 // what Handles lies in while it fits: a crowd has about two a chunk, and memory elsewhere is a cache miss more
}

// Grid knows which entities stand in which chunk. The zero value is not ready; use New.
//
// Cells lie in region buckets: a walk over everything near a chunk visits at most the regions that touch the reach and, in
// them, the occupied chunks only. A step to a neighbour mostly stays in its region, where no map has to be asked.
type Grid struct {
	index   map[Region]*bucket
	buckets []*bucket // in an order that depends on what was done alone, so that a run repeats
	places  func(handle uint32) *Place
	spare   []*Cell
	cells   int
}

// bucket holds the occupied chunks of a region, by their height in it: a flat world needs one layer of eight.
type bucket struct {
	region Region
	slot   int // index in Grid.buckets
	cells  int
	layers [RegionSize]*layer
}

type layer struct {
	at    [RegionSize * RegionSize]uint8 // by x and y in the region: index in cells + 1, or 0
	cells []*Cell
}

// New returns an empty grid. places finds the Place of a handle; it must answer for every handle that was added.
func New(places func(handle uint32) *Place) *Grid {
	return &Grid{index: make(map[Region]*bucket), places: places}
}

// Cells is the number of occupied chunks.
func (g *Grid) Cells() int { return g.cells }

// Cell returns the occupied chunk c, or nil.
func (g *Grid) Cell(c Chunk) *Cell {
	if b := g.index[c.Region()]; b != nil {
		return b.cell(c)
	}
	return nil
}

func spot(c Chunk) int64 { return c.X&(RegionSize-1) + RegionSize*(c.Y&(RegionSize-1)) }

func (b *bucket) cell(c Chunk) *Cell {
	if l := b.layers[c.Z&(RegionSize-1)]; l != nil {
		if i := l.at[spot(c)]; i > 0 {
			return l.cells[i-1]
		}
	}
	return nil
}

// Add puts an entity into a chunk. Adding one that is in the grid is Move.
func (g *Grid) Add(handle uint32, c Chunk) { g.Move(handle, c) }

// Move takes an entity to another chunk.
func (g *Grid) Move(handle uint32, c Chunk) {
	p := g.places(handle)
	var to *bucket
	from := p.cell
	if from != nil {
		if p.Chunk == c {
			return
		}
		to = from.home
	}
	if r := c.Region(); to == nil || p.Chunk.Region() != r {
		to = g.bucket(r)
	}
	cell := to.cell(c)
	if cell == nil {
		cell = g.open(to, c)
	}
	if from != nil {
		g.take(p)
	}
	p.Chunk, p.cell, p.slot = c, cell, int32(len(cell.Handles))
	cell.Handles = append(cell.Handles, handle)
}

// Remove takes an entity out of the grid.
func (g *Grid) Remove(handle uint32) {
	if p := g.places(handle); p.cell != nil {
		g.take(p)
		p.cell = nil
	}
}

// take takes an entity out of its cell.
func (g *Grid) take(p *Place) {
	cell := p.cell
	last := len(cell.Handles) - 1
	if int(p.slot) != last {
		moved := cell.Handles[last]
		cell.Handles[p.slot] = moved
		g.places(moved).slot = p.slot
	}
	cell.Handles = cell.Handles[:last]
	if last == 0 {
		g.close(cell)
	}
}

func (g *Grid) bucket(r Region) *bucket {
	b := g.index[r]
	if b == nil {
		b = &bucket{region: r, slot: len(g.buckets)}
		g.index[r] = b
		g.buckets = append(g.buckets, b)
	}
	return b
}

// open makes a chunk that nobody was in.
func (g *Grid) open(b *bucket, c Chunk) *Cell {
	z := c.Z & (RegionSize - 1)
	if b.layers[z] == nil {
		b.layers[z] = new(layer)
	}
	l := b.layers[z]
	var cell *Cell
	if n := len(g.spare); n > 0 {
		cell, g.spare = g.spare[n-1], g.spare[:n-1]
	} else {
		cell = new(Cell)
	}
	cell.Chunk, cell.home, cell.slot = c, b, int32(len(l.cells))
	if cell.Handles == nil {
		cell.Handles = cell.few[:0]
	}
	l.cells = append(l.cells, cell)
	l.at[spot(c)] = uint8(len(l.cells))
	b.cells++
	g.cells++
	return cell
}

// close forgets a chunk that the last has left.
func (g *Grid) close(cell *Cell) {
	b := cell.home
	l := b.layers[cell.Chunk.Z&(RegionSize-1)]
	last := len(l.cells) - 1
	moved := l.cells[last]
	l.cells[cell.slot], moved.slot = moved, cell.slot
	l.at[spot(moved.Chunk)] = uint8(cell.slot + 1)
	l.cells[last] = nil
	l.cells = l.cells[:last]
	l.at[spot(cell.Chunk)] = 0
	g.cells--
	if b.cells--; b.cells == 0 { // a world that players walked through must not keep a bucket a region
		delete(g.index, b.region)
		end := len(g.buckets) - 1
		g.buckets[b.slot] = g.buckets[end]
		g.buckets[b.slot].slot = b.slot
		g.buckets[end] = nil
		g.buckets = g.buckets[:end]
	}
	if cell.home = nil; len(g.spare) < 256 && cap(cell.Handles) <= 1024 {
		g.spare = append(g.spare, cell)
	}
}

// Near calls f for every occupied chunk within reach chunks of c, in no particular order. f must not change the grid.
func (g *Grid) Near(c Chunk, reach int64, f func(*Cell)) {
	lo, hi := Chunk{c.X - reach, c.Y - reach, c.Z - reach}.Region(), Chunk{c.X + reach, c.Y + reach, c.Z + reach}.Region()
	if n := (hi.X - lo.X + 1) * (hi.Y - lo.Y + 1) * (hi.Z - lo.Z + 1); n > int64(len(g.buckets)) {
		for _, b := range g.buckets {
			if r := b.region; r.X >= lo.X && r.X <= hi.X && r.Y >= lo.Y && r.Y <= hi.Y && r.Z >= lo.Z && r.Z <= hi.Z {
				b.near(c, reach, f)
			}
		}
		return
	}
	for x := lo.X; x <= hi.X; x++ {
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				if b := g.index[Region{x, y, z}]; b != nil {
					b.near(c, reach, f)
				}
			}
		}
	}
}

func (b *bucket) near(c Chunk, reach int64, f func(*Cell)) {
	for _, l := range b.layers {
		if l == nil {
			continue
		}
		for _, cell := range l.cells {
			if cell.Chunk.Distance(c) <= reach {
				f(cell)
			}
		}
	}
}
