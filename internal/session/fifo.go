package session

// fifo is a queue whose elements keep their index for life: the first ever pushed is 0. It moves its elements down
// instead of growing where it can, so a queue of steady length allocates nothing.
type fifo[T any] struct {
	buf  []T
	head int
	base uint64 // index of buf[head]
}

func (q *fifo[T]) len() int       { return len(q.buf) - q.head }
func (q *fifo[T]) first() uint64  { return q.base }
func (q *fifo[T]) end() uint64    { return q.base + uint64(q.len()) }
func (q *fifo[T]) at(i uint64) *T { return &q.buf[q.head+int(i-q.base)] }

// slice is the n elements from index i on, valid until the next push.
func (q *fifo[T]) slice(i uint64, n int) []T {
	at := q.head + int(i-q.base)
	return q.buf[at : at+n]
}

func (q *fifo[T]) push(v ...T) {
	if len(q.buf)+len(v) > cap(q.buf) && q.head > 0 && q.head >= len(q.buf)/2 {
		q.buf = q.buf[:copy(q.buf, q.buf[q.head:])]
		q.head = 0
	}
	q.buf = append(q.buf, v...)
}

// pop drops the n oldest elements.
func (q *fifo[T]) pop(n int) {
	q.head += n
	q.base += uint64(n)
	if q.head == len(q.buf) {
		q.buf, q.head = q.buf[:0], 0
	}
}

// shrink frees room if there is for more than four times n elements, and for more than the queue holds.
func (q *fifo[T]) shrink(n int) {
	if n = max(n, q.len()); cap(q.buf) > 4*n {
		q.buf, q.head = append([]T(nil), q.buf[q.head:]...), 0
	}
}
