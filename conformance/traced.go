package conformance

import "github.com/throng-dev/throng/internal/trace"

// traced tells what a client takes and sends, in the log of a run that keeps one.
type traced struct{ p *player }

func (t traced) On(trace.Cat) bool { return true }

func (t traced) Take(e *trace.Event) {
	t.p.w.note("  client %d: %s %x", t.p.i, e, e.ID[:4])
}
