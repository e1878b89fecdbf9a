package grid

// Place is what the grid keeps of one entity; the zero value is nowhere.
type Place struct {
	Chunk Chunk
	slot  int32 // index in the cell's list
	in    bool
}

// In reports whether the entity stands in the grid.
func (p *Place) In() bool { return p.in }

// Cell is one occupied chunk.
type Cell struct {
	Chunk   Chunk
	Handles []uint32 // who is here, in no order
	Mark    uint32   // free for the owner of the grid: the flush that has this cell in its dirty list
}

// Grid knows which entities stand in which chunk. The zero value is not ready; use New.
//
// Cells lie in region buckets, a bucket is a short slice: a walk over everything near a chunk visits at most the regions
// that touch the reach and, in them, the occupied chunks only.
type Grid struct {
	regions map[Region][]*Cell
	places  func(handle uint32) *Place
	spare   []*Cell
	cells   int
}

// New returns an empty grid. places finds the Place of a handle; it must answer for every handle that was added.
func New(places func(handle uint32) *Place) *Grid {
	return &Grid{regions: make(map[Region][]*Cell), places: places}
}

// Cells is the number of occupied chunks.
func (g *Grid) Cells() int { return g.cells }

// Cell returns the occupied chunk c, or nil.
func (g *Grid) Cell(c Chunk) *Cell {
	for _, cell := range g.regions[c.Region()] {
		if cell.Chunk == c {
			return cell
		}
	}
	return nil
}

// Add puts an entity into a chunk. Adding one that is in the grid is Move.
func (g *Grid) Add(handle uint32, c Chunk) {
	p := g.places(handle)
	if p.in {
		g.Move(handle, c)
		return
	}
	cell := g.cell(c)
	p.Chunk, p.slot, p.in = c, int32(len(cell.Handles)), true
	cell.Handles = append(cell.Handles, handle)
}

// Move takes an entity to another chunk.
func (g *Grid) Move(handle uint32, c Chunk) {
	p := g.places(handle)
	if p.in && p.Chunk == c {
		return
	}
	g.Remove(handle)
	g.Add(handle, c)
}

// Remove takes an entity out of the grid.
func (g *Grid) Remove(handle uint32) {
	p := g.places(handle)
	if !p.in {
		return
	}
	cell := g.Cell(p.Chunk)
	last := len(cell.Handles) - 1
	moved := cell.Handles[last]
	cell.Handles[p.slot] = moved
	g.places(moved).slot = p.slot
	cell.Handles = cell.Handles[:last]
	p.in = false
	if last == 0 {
		g.drop(cell)
	}
}

func (g *Grid) cell(c Chunk) *Cell {
	if cell := g.Cell(c); cell != nil {
		return cell
	}
	var cell *Cell
	if n := len(g.spare); n > 0 {
		cell, g.spare = g.spare[n-1], g.spare[:n-1]
		*cell = Cell{Chunk: c, Handles: cell.Handles[:0]}
	} else {
		cell = &Cell{Chunk: c}
	}
	r := c.Region()
	g.regions[r] = append(g.regions[r], cell)
	g.cells++
	return cell
}

func (g *Grid) drop(cell *Cell) {
	r := cell.Chunk.Region()
	bucket := g.regions[r]
	for i, b := range bucket {
		if b != cell {
			continue
		}
		last := len(bucket) - 1
		bucket[i], bucket[last] = bucket[last], nil
		if last == 0 {
			delete(g.regions, r) // a world that players walked through must not keep a bucket a region
		} else {
			g.regions[r] = bucket[:last]
		}
		break
	}
	g.cells--
	if len(g.spare) < 256 && cap(cell.Handles) <= 1024 {
		g.spare = append(g.spare, cell)
	}
}

// Near calls f for every occupied chunk within reach chunks of c, in no order. f must not change the grid.
func (g *Grid) Near(c Chunk, reach int64, f func(*Cell)) {
	lo, hi := Chunk{c.X - reach, c.Y - reach, c.Z - reach}.Region(), Chunk{c.X + reach, c.Y + reach, c.Z + reach}.Region()
	if n := (hi.X - lo.X + 1) * (hi.Y - lo.Y + 1) * (hi.Z - lo.Z + 1); n > int64(len(g.regions)) {
		for _, bucket := range g.regions {
			near(bucket, c, reach, f)
		}
		return
	}
	for x := lo.X; x <= hi.X; x++ {
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				near(g.regions[Region{x, y, z}], c, reach, f)
			}
		}
	}
}

func near(bucket []*Cell, c Chunk, reach int64, f func(*Cell)) {
	for _, cell := range bucket {
		if cell.Chunk.Distance(c) <= reach {
			f(cell)
		}
	}
}
