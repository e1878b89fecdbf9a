package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// B-083, B-054: in a world that is not strict anybody may correct and destroy: proxies follow, the owner does not, and the operator of an
// observing world learns of it.
func TestB083WorldsThatAreNotStrict(t *testing.T) {
	for _, trust := range []relay.Trust{relay.TrustStrict, relay.TrustObserve, relay.TrustAll} {
		t.Run(trust.String(), func(t *testing.T) {
			var book, ops logbook
			play(t, func(t *testing.T, n *throngtest.Net) {
				n.Join("host", throng.Config{})
				owner := n.Join("owner", throng.Config{Logger: book.logger()})
				rude, other := n.Join("rude", throng.Config{}), n.Join("other", throng.Config{})
				everywhere(owner, rude, other)
				if got := rude.Profile().Trust.String(); got != trust.String() {
					t.Fatalf("the profile says %s", got)
				}
				thing := full("x")
				must(t, owner.Spawn(thing))
				n.Until(time.Second, "seen", sees(thing, rude, other))
				at := find[Thing](rude, thing.NetID())
				at.Text = "rude"
				err := rude.Override(at, &at.Text)
				n.Run(500 * time.Millisecond)
				if trust == relay.TrustStrict {
					if !errors.Is(err, throng.ErrNotHost) || find[Thing](other, thing.NetID()).Text != "text" {
						t.Errorf("an override by anybody in a strict world: %v", err)
					}
					if err := rude.Destroy(at); !errors.Is(err, throng.ErrNotDriver) {
						t.Errorf("a destruction by anybody in a strict world: %v", err)
					}
					return
				}
				must(t, err)
				if thing.Text != "text" || find[Thing](other, thing.NetID()).Text != "rude" {
					t.Errorf("the owner holds %q, another %q", thing.Text, find[Thing](other, thing.NetID()).Text)
				}
				if owner.Stats().Uninvited != 1 || book.count("may not wrote") != 1 {
					t.Errorf("the owner counts %d, and says\n%s", owner.Stats().Uninvited, book.text())
				}
				thing.Text = "mine" // whatever the owner sends later holds
				n.Until(time.Second, "all follow the owner", sees(thing, rude, other))
				must(t, rude.Destroy(at))
				n.Until(time.Second, "it is gone", gone(thing.NetID(), owner, rude, other))
				n.Run(time.Second)
				if got := n.Server().Stats().Replication.Tolerated; got != 2 {
					t.Errorf("%d were let pass", got)
				}
				if logged := ops.count("a strict world would drop this") > 0; logged != (trust == relay.TrustObserve) {
					t.Errorf("logged: %v\n%s", logged, ops.text())
				}
			}, throngtest.World(relay.World{Trust: trust}), func(c *relay.Config) { c.Logger = ops.logger() })
		})
	}
}

// B-032: a world may switch properties or proxies off for all; clients obey.
func TestB032TheWorldSwitchesOff(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "spawns go on", sees(thing, b))
		thing.Text = "changed"
		must(t, a.MarkDirty(thing, &thing.Push))
		n.Run(3 * time.Second)
		if got := find[Thing](b, thing.NetID()).Text; got != "text" || !a.Profile().NoProperties {
			t.Errorf("a change of %q arrived", got)
		}
	}, throngtest.World(relay.World{NoProperties: true}))
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(time.Second)
		if find[Thing](b, thing.NetID()) != nil || find[Thing](a, thing.NetID()) == nil || !b.Profile().NoProxies {
			t.Error("a proxy where there are none, or no own entity")
		}
	}, throngtest.World(relay.World{NoProxies: true}))
}
