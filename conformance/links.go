package conformance

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
)

// namedLink is a path, the same both ways.
type namedLink struct {
	name string
	link memnet.Link
}

// links are the paths that programs run over. The last four have every fault at once, and more loss than a player would bear.
var links = []namedLink{
	{"lan", memnet.LAN},
	{"wifi", memnet.WiFi},
	{"mobile", memnet.Mobile},
	{"burst", memnet.BurstLoss},
	{"rough", rough(0)},
	{"rough5", rough(0.05)},
	{"rough20", rough(0.2)},
	{"rough40", rough(0.4)},
}

func rough(loss float64) memnet.Link {
	return memnet.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Duplicate: 0.05, Reorder: 0.2, Loss: loss}
}

func linkOf(name string) (memnet.Link, error) {
	for _, l := range links {
		if l.name == name {
			return l.link, nil
		}
	}
	return memnet.Link{}, fmt.Errorf("no link is called %q", name)
}

// calm is a link that loses nothing any more: what is left is its delay.
func calm(l memnet.Link) memnet.Link {
	l.Loss, l.Burst, l.MTU = 0, memnet.Burst{}, 0
	return l
}

// delay is the longest that a datagram is under way on a calm link: D of the Bound.
func delay(l memnet.Link) time.Duration {
	d := l.Latency + l.Jitter
	if l.Reorder > 0 {
		d += max(l.Latency+l.Jitter, 0) + time.Millisecond
	}
	if l.Rate > 0 {
		d += 20 * time.Millisecond // a flush's packets one behind another
	}
	return d
}
