package conformance

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// What a copy may do with a write.
const (
	applies = "apply"
	adopts  = "apply and adopt" // and its next tick does not undo it
	drops   = "drop"
	warns   = "drop, warn"
	never   = "never arrives"
)

// TestB083Precedence is the table of B-083: what becomes of a write, by the role of the copy it is about and by who wrote, in every mode
// of trust. The last three columns are who writes; a mode that decides otherwise stands behind it.
func TestB083Precedence(t *testing.T) {
	type row struct {
		role                             string
		driver, host, authority, anybody string
		anybodyStrict, hostTrust         string // "": the same
	}
	table := []row{
		{role: "owner, AllowHost", driver: drops, host: adopts, authority: applies, anybody: warns, anybodyStrict: never},
		{role: "owner, OwnerOnly", driver: drops, host: never, hostTrust: drops, authority: applies, anybody: warns, anybodyStrict: never},
		{role: "proxy of a client's entity", driver: applies, host: applies, authority: applies, anybody: applies, anybodyStrict: never},
		{role: "host-owned, I am not host", driver: applies, host: applies, authority: applies, anybody: never},
		{role: "host-owned, I am host", driver: drops, host: drops, authority: applies, anybody: warns, anybodyStrict: never},
	}
	for _, trust := range []struct {
		name  string
		flags uint8
	}{{"strict", wire.ProfileStrict}, {"observe", wire.ProfileObserve}, {"trust", 0}} {
		for _, r := range table {
			for writer, want := range map[string]string{"the driver": r.driver, "the host": r.host, "an authority": r.authority, "anybody": r.anybody} {
				switch {
				case trust.name == "strict" && writer == "anybody" && r.anybodyStrict != "":
					want = r.anybodyStrict
				case trust.name != "strict" && writer == "the host" && r.hostTrust != "":
					want = r.hostTrust
				}
				t.Run(fmt.Sprintf("%s/%s/%s", trust.name, r.role, writer), func(t *testing.T) {
					if got := precedence(t, trust.flags, r.role, writer); got != want {
						t.Errorf("%s of a write by %s: %s, want %s", r.role, writer, got, want)
					}
				})
			}
		}
	}
}

// precedence plays one cell.
func precedence(t *testing.T, trust uint8, role, writer string) string {
	prof := shard.DefaultProfile()
	prof.Flags = prof.Flags&^(wire.ProfileStrict|wire.ProfileObserve) | trust
	var tolerated int
	s := newStand(t, 1, memnet.Link{}, shard.Config{Profile: prof, Tolerated: func(*shard.Session, *table.Entity, string) { tolerated++ }})
	host, owner, proxy, other := s.join(), s.join(), s.join(), s.join()
	s.run(time.Second)
	id := wire.ID{9}
	flags, reader := uint16(0), owner
	switch role {
	case "owner, OwnerOnly":
		flags = wire.EntityOwnerOnly
	case "proxy of a client's entity":
		reader = proxy
	case "host-owned, I am not host":
		flags, reader = wire.EntityHosted, proxy
	case "host-owned, I am host":
		flags, reader = wire.EntityHosted, host
	}
	hosted := flags&wire.EntityHosted != 0
	from := owner
	if hosted {
		from = host
	}
	from.spawn(id, flags, 1)
	s.run(time.Second)
	c, d := reader.at(id)
	clear(reader.applied)
	before := reader.reg.Stats()
	slot, expect := standA, uint32(7)
	switch writer {
	case "the driver":
		if reader == from { // what it sent comes back with everybody's
			_, b := from.at(id)
			b.val[standB] = 7
			slot = standB
			s.run(time.Second)
			if st := reader.reg.Stats(); st.Echo == before.Echo && reader.applied[id] == 0 {
				// The relay does not send a driver's own records back, unless others share the segment: let it come by hand.
				echo(reader, c, standB, 99)
			}
			if _, b := reader.at(id); b.val[standB] == 99 || reader.applied[id]>>standB&1 != 0 {
				return applies
			}
			if reader.reg.Stats().Echo == before.Echo {
				t.Fatal("no echo came")
			}
			return drops
		}
		_, b := from.at(id)
		b.val[slot] = expect
	case "the host":
		if hosted && reader == host { // the host of before, under an older term
			old := c.Term
			host.cut = true
			s.run(6 * time.Second)
			if s.shard.Host() == host.id {
				t.Fatal("the host did not move on")
			}
			host.cut = false
			_, b := host.at(id)
			stale := s.shard.Stats().Stale
			b.val[slot] = expect // it does not know yet
			host.frames = s.every - 1
			host.tick()
			s.run(2 * time.Second)
			if s.shard.Host() != host.id { // it is senior, and host again: what it wrote as the one of before is void
				t.Fatal("the senior is not host again")
			}
			_, b = host.at(id)
			if string(s.shard.At(id).Value(slot)) == string(binary.LittleEndian.AppendUint32(nil, expect)) || s.shard.Stats().Stale == stale || c.Term == old {
				return applies
			}
			return drops
		}
		if hosted {
			_, b := host.at(id)
			b.val[slot] = expect
			break
		}
		write(host, id, slot, expect)
	case "an authority":
		slot = standAuth
		if reader == from {
			m := wire.Entity{ID: id, Inc: c.Inc, Term: c.Term, N: 1, Version: s.shard.FlushNumber() + 1, Mask: 1 << slot, Values: binary.LittleEndian.AppendUint32(nil, expect)}
			reader.sess.Tell(wire.AppendEntity(nil, wire.MsgOverride, &m))
			s.plan()
		} else {
			echo(reader, c, slot, expect)
		}
	default:
		write(other, id, slot, expect)
	}
	s.run(time.Second)
	after := reader.reg.Stats()
	if trust&wire.ProfileStrict != 0 && tolerated != 0 {
		t.Error("a strict world lets something pass")
	}
	switch {
	case d.val[slot] == expect && reader.reg.Find(id).Drives() && slot != standAuth:
		d.val[standB]++ // the next tick carries something else
		s.run(time.Second)
		if got := binary.LittleEndian.Uint32(s.shard.At(id).Value(slot)); got != expect {
			t.Errorf("the next tick undid it: %d", got)
		}
		return adopts
	case d.val[slot] == expect:
		return applies
	case after.Uninvited > before.Uninvited && c.Ails != nil && c.Ails.Uninvited != 0:
		return warns
	case after.Uninvited > before.Uninvited:
		return drops
	}
	return never
}

// write sends a correction as a modified client would, whatever it may.
func write(g *guest, id wire.ID, slot int, v uint32) {
	c, b := g.at(id)
	had := b.val
	b.val[slot] = v
	g.reg.Override(c, 1<<slot)
	b.val = had
}

// echo hands a client a shared record, as the relay would write it for all.
func echo(g *guest, c *registry.Copy, slot int, v uint32) {
	flush, _ := g.reg.Flush()
	f := wire.Flush{Epoch: 1, Flush: flush + 1}
	const pn = 1 << 20 // behind everything that has come
	g.reg.Frame(pn, wire.KindFlush, f.Append(nil))
	var seg wire.Segment
	seg.Reset(wire.AppendChunk(nil, f.Base, f.Base), c.Class.Num, &c.Class.Class, f.Base)
	seg.Begin(c.Handle, f.Base, 1<<slot, wire.Sample{})
	seg.B = binary.LittleEndian.AppendUint32(seg.B, v)
	g.reg.Frame(pn, wire.KindSegment, seg.B)
}
