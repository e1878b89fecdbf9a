package motion

// Bounds of a ring.
const (
	firstRing = 4
	maxRing   = 32
)

// Sample is a value with the time at which it was so.
type Sample[V any] struct {
	At    int64
	Cut   bool // nothing lies between it and the sample before: it was put there
	Still bool // so it stays until another sample says otherwise
	V     V
}

// Ring holds the newest samples in order of time: 4 at first, up to 32 if that many are needed.
type Ring[V any] struct {
	buf     []Sample[V]
	head, n uint8
}

// Len is the number of samples held.
func (r *Ring[V]) Len() int { return int(r.n) }

// At is sample i, 0 the oldest. The pointer is valid until the next Push.
func (r *Ring[V]) At(i int) *Sample[V] { return &r.buf[(int(r.head)+i)&(len(r.buf)-1)] }

// Newest is the newest sample. The ring must hold one.
func (r *Ring[V]) Newest() *Sample[V] { return r.At(int(r.n) - 1) }

// Push appends a sample. needed is the time being drawn: samples before the one it falls behind are given up before the ring grows.
func (r *Ring[V]) Push(s Sample[V], needed float64) {
	if int(r.n) == len(r.buf) {
		switch {
		case r.n == 0:
			r.buf = make([]Sample[V], firstRing)
		case len(r.buf) < maxRing && float64(r.At(1).At) > needed:
			wide := make([]Sample[V], 2*len(r.buf))
			for i := range int(r.n) {
				wide[i] = *r.At(i)
			}
			r.buf, r.head = wide, 0
		default:
			r.head = uint8((int(r.head) + 1) & (len(r.buf) - 1))
			r.n--
		}
	}
	r.n++
	*r.Newest() = s
}

// Clear forgets all samples, and what they point to.
func (r *Ring[V]) Clear() {
	clear(r.buf)
	r.head, r.n = 0, 0
}
