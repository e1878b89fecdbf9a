package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// A host's Destroy that the relay refused, because the host was another by then, leaves nothing behind: when somebody else destroys
// the entity it is not Local, and the refusal was logged (B-054, P18).
func TestRefusedDestroyIsNotLocal(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		log := &logbook{}
		cfg := hooks(d.watch())
		cfg.Logger = log.logger()
		first := n.Join("first", throng.Config{})
		host := n.Join("host", cfg)
		owner, other := n.Join("owner", throng.Config{}), n.Join("other", throng.Config{})
		everywhere(host, owner, other)
		thing := full("x")
		must(t, owner.Spawn(thing))
		n.Leave(first)
		n.Until(2*time.Second, "the next is host", func() bool { return host.IsHost() && sees(thing, host, other)() })
		n.Shape(host, throngtest.Link{Loss: 1}, throngtest.Link{}) // it hears, and is not heard
		must(t, host.Destroy(find[Thing](host, thing.NetID())))
		first = n.Join("first", throng.Config{}) // who joined the realm before
		n.Until(time.Second, "it takes over", func() bool { return first.IsHost() })
		n.Shape(host, throngtest.Link{}, throngtest.Link{})
		n.Until(3*time.Second, "the relay has refused", func() bool { return log.count("refused to destroy") == 1 })
		if !sees(thing, host, other)() {
			t.Fatal("it is gone")
		}
		d.clear()
		must(t, owner.Destroy(thing))
		n.Run(time.Second)
		d.want(t, "destroy x: destroyed local=false")
	})
}
