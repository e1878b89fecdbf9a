package shard

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// Identity is what a session's token says, checked by whoever accepted it.
type Identity struct {
	To       transport.ID // where its datagrams go
	Player   wire.PlayerID
	Senior   uint64 // lower joined the realm earlier
	Eligible bool   // may become host
	Observer bool   // may not write
	// Authority is a trusted server: it may write auth slots, correct and destroy anything, decide who may know of what, and has the whole
	// world in reach.
	Authority bool
}

// Session is one client in a world.
type Session struct {
	Identity
	shard  *Shard
	conn   *session.Conn
	number uint32
	open   bool
	called bool  // the next pass looks at it
	due    int32 // index in Shard.dues
	ready  bool  // announced all it holds: presence may begin
	marked bool  // got its end mark

	said     bool // it said that it is ready
	welcomed bool
	greeting []wire.Destroyed // what it must be told of before
	silent   bool
	turned   bool // silent changed just now
	full     bool // reported no room

	departures bool // is told of departures in reach of what it does not hold
	forgot     int  // pairs that are forgotten

	classes []*table.Class // by the client's own number
	knows   []uint64       // bit set: class numbers the client can resolve
	told    int            // of the world's classes, how many were sent to it
	there   [][]byte       // what it has not been told of who was there when it came
	upTo    uint64         // up to where it was told of who came and left since
	placed  map[wire.ID]bool

	follow bool // looks from its avatar
	avatar *table.Entity
	views  []grid.Chunk
	eyes   []eyeAt // the regions of views
	looked bool    // views changed since the last flush
	owned  int     // entities it drives
	tick   uint32

	joined   map[string]bool      // groups that it asked to be in
	verdicts map[wire.ID]Audience // of an authority: audiences of entities that it is about to announce
	admit    []uint64             // bit set: audiences that admit it
	ahead    ahead
	tying    tying

	pairs              pairs
	intros             []uint32 // handles to introduce or, after a loss, to introduce again
	leaves             []uint32
	own                []ownItem // what is dirty for this observer alone
	sent               sentLog
	apart              []apart // values under way to it that travel apart, oldest first
	apartBytes         int     // of them
	entered            time.Duration
	budget             budget
	marks              marks
	lacking            bool   // a packet was lost since the last flush or mend
	starved            bool   // the last flush did not fit the budget
	skipped            uint32 // first flush it was not sent because it was silent; 0: none
	epoch              uint8
	closing            error
	backlog            []delayed // control messages that the reliable window has no room for, oldest first
	handOvers, chatter int       // bytes of them
	asked              asked
	events             events
}

// Join adds a session that speaks through conn, and queues its welcome. class announcements and entities may follow.
func (s *Shard) Join(now time.Duration, conn *session.Conn, id Identity, epoch uint8) *Session {
	s.advance(now)
	s.lastNum++
	o := &Session{Identity: id, shard: s, conn: conn, number: s.lastNum, open: true, epoch: epoch, follow: true, entered: now}
	o.budget.init(now, s.cfg.Budget)
	o.pairs.init()
	at := len(s.sessions)
	for at > 0 && s.sessions[at-1].Senior > id.Senior {
		at--
	}
	s.sessions = append(s.sessions, nil)
	copy(s.sessions[at+1:], s.sessions[at:])
	s.sessions[at] = o
	s.byNumber[o.number] = o
	s.dues.add(o, never)
	if o.Authority {
		s.eyes.wide = append(s.eyes.wide, o)
	}
	o.call()
	o.judgeAll()
	o.greeting = s.destroyedList()
	o.greet()
	s.roster.add(wire.Player{ID: id.Player, Present: true, Eligible: id.Eligible, Authority: id.Authority})
	s.elect()
	return o
}

// Leave removes a session; why is what observers of its entities are told.
func (s *Shard) Leave(now time.Duration, o *Session, why wire.Why) {
	if !o.open {
		return
	}
	s.advance(now)
	if o.closing == nil {
		o.release() // what its last packet brought may be all that they waited for
	}
	o.open = false
	for i, p := range s.sessions {
		if p == o {
			s.sessions = append(s.sessions[:i], s.sessions[i+1:]...)
			break
		}
	}
	delete(s.byNumber, o.number)
	s.dues.remove(o)
	s.eyes.close(o)
	if i := slices.Index(s.eyes.wide, o); i >= 0 {
		s.eyes.wide = slices.Delete(s.eyes.wide, i, i+1)
	}
	s.forgotten -= o.forgot
	o.forgot = 0
	s.roster.add(wire.Player{ID: o.Player, Eligible: o.Eligible, Authority: o.Authority})
	o.leaveEvents()
	o.conn.Withdraw(wire.StreamValues, 0)
	o.pairs.each(func(p *pair) { s.table.ByHandle(p.handle).Refs-- })
	o.pairs.init()
	s.elect()
	for _, e := range s.table.All() {
		if e == nil || e.Dead || e.Driver != o.number {
			continue
		}
		switch {
		case e.Flags&wire.EntityHosted != 0:
			s.swapTo(e, s.hostOf(e))
		case e.Revoking && s.target(e) != nil:
			s.stats.Forced++
			s.swap(e)
		case s.granted(e) != nil && s.hostOf(e) != nil: // the grant waits on
			p := s.granted(e)
			s.toHost(e)
			p.term = e.Term
		case movesOn(e) && s.hostOf(e) != nil:
			s.toHost(e)
		case e.Class.Keep > 0:
			s.keep(e)
		default:
			s.kill(e, why, wire.PlayerID{})
		}
	}
}

// Receive takes one packet of a session. An error means that the session must end; see session.Conn.Receive.
func (s *Shard) Receive(now time.Duration, o *Session, payload []byte) error {
	if !o.open {
		return nil
	}
	s.advance(now)
	err := o.conn.Receive(now, payload, o)
	s.Received(now, o)
	if o.closing != nil {
		return o.closing
	}
	return err
}

// Advance tells the shard the time before its sessions' messages are handed over by somebody else than Receive.
func (s *Shard) Advance(now time.Duration) { s.advance(max(s.now, now)) }

// Received tells the shard that somebody else called Receive on the session's Conn with o behind the handler, as whoever
// accepts a session does for the packet that holds its Hello.
func (s *Shard) Received(now time.Duration, o *Session) {
	s.advance(now)
	o.hear()
	if len(o.backlog) > 0 {
		o.unblock()
	}
	o.greet()
	if o.open {
		o.release()
		o.passEvents()
	}
	o.call()
	o.plan()
}

// Failed returns the sessions that cannot go on, because they do not take what they must be told, since the last call.
func (s *Shard) Failed() []*Session {
	f := s.failed
	s.failed = nil
	return f
}

// Err is why a failed session must end.
func (o *Session) Err() error { return o.closing }

// assess lets the budget follow what the path bears.
func (o *Session) assess() {
	if o.silent {
		return
	}
	o.budget.late(o.conn.Stats().Spurious)
	srtt, _ := o.conn.RTT()
	if err := o.budget.judge(o.shard.now, srtt, o.conn.InFlight()); err != nil && o.closing == nil {
		o.closing = err
		o.shard.failed = append(o.shard.failed, o)
	}
}

// Conn is the session's end of the session layer.
func (o *Session) Conn() *session.Conn { return o.conn }

// Frame is part of session.Handler.
func (o *Session) Frame(_ uint64, kind byte, body []byte) {
	was := o.shard.failures()
	switch kind {
	case wire.KindDeltas:
		o.shard.deltas(o, body)
	case wire.KindMotion:
		o.shard.motion(o, body)
	case wire.KindEventUp:
		o.event(body, false)
	}
	o.shard.tellDrop(o, was, Drop{Frame: true, Kind: kind})
}

// Message is part of session.Handler.
func (o *Session) Message(_ uint64, stream int, msg []byte) {
	if len(msg) > 0 {
		was := o.shard.failures()
		o.heed(stream, msg)
		o.shard.tellDrop(o, was, Drop{Kind: msg[0]})
	}
}

func (o *Session) heed(stream int, msg []byte) {
	if stream >= wire.StreamEvents && stream < wire.StreamEvents+wire.EventStreams && o.open && msg[0] == wire.MsgEventUp {
		o.event(msg[1:], true)
	}
	if stream != wire.StreamControl || !o.open {
		return
	}
	s := o.shard
	var err error
	switch kind, body := msg[0], msg[1:]; kind {
	case wire.MsgClass:
		err = o.class(body)
	case wire.MsgGroup:
		err = o.group(body)
	case wire.MsgAttach:
		err = s.attach(o, body)
	case wire.MsgView:
		err = o.view(body)
	case wire.MsgHello: // whoever accepted the session has read it
	case wire.MsgReady:
		if o.said = true; o.welcomed {
			o.ready = true
			o.lookAnew()
		}
		s.returned(o)
	case wire.MsgRoom:
		o.room()
	case wire.MsgValueUp:
		err = s.valueUp(o, body)
	case wire.MsgWatch:
		err = o.watch(body)
	case wire.MsgAudience:
		err = o.verdict(body)
	case wire.MsgMember:
		err = o.member(body)
	case wire.MsgEventKindUp:
		err = o.eventKind(body)
	default:
		var m wire.Entity
		if m, err = wire.ParseEntity(kind, body); err == nil {
			s.message(o, kind, &m)
		}
	}
	if err != nil {
		s.stats.Malformed++
		s.fault = err
	}
	if kind := msg[0]; kind != wire.MsgRestrict && kind != wire.MsgAttach {
		o.ahead = ahead{} // what it was said for has come, or does not
	}
}

func (s *Shard) message(o *Session, kind byte, m *wire.Entity) {
	if o.Observer && kind != wire.MsgNoRoom && kind != wire.MsgForgot && kind != wire.MsgGone {
		s.stats.Refused++
		o.refuse(m, wire.RefusedRights)
		return
	}
	switch kind {
	case wire.MsgSpawn:
		s.spawn(o, m)
	case wire.MsgAgain:
		s.again(o, m)
	case wire.MsgGone:
		s.heardGone(o, m)
	case wire.MsgRestrict:
		s.restrict(o, m)
	case wire.MsgRepeat:
		s.repeat(o, m)
	case wire.MsgDestroy:
		s.destroy(o, m)
	case wire.MsgRequest:
		s.request(o, m)
	case wire.MsgGrant:
		s.grant(o, m)
	case wire.MsgRelease:
		s.release(o, m)
	case wire.MsgOverrideUp:
		s.override(o, m)
	case wire.MsgNoRoom:
		s.noRoom(o, m)
	case wire.MsgForgot:
		s.forgot(o, m)
	}
}

// Bounds of what waits for room in the reliable window of a session, in bytes: of hand-overs, so that a host can take over some
// ten thousand entities, and of all else, which a session that acks nothing could cause itself.
const (
	maxHandOvers = 8 << 20
	maxChatter   = 64 << 10
)

// delayed is a control message that waits for room in the window.
type delayed struct {
	msg   []byte
	stamp uint64 // as if it had been queued at once
}

func (m *delayed) handsOver() bool { return m.msg[0] == wire.MsgAssign || m.msg[0] == wire.MsgRevoke }

// queue sends a reliable control message. What the window has no room for waits; a session for which too much waits cannot
// follow the world: it must end. msg is kept.
func (o *Session) queue(msg []byte) {
	var err error
	if len(o.backlog) == 0 {
		err = o.conn.Queue(wire.StreamControl, msg)
	}
	if len(o.backlog) > 0 || err == session.ErrBackpressure {
		m := delayed{msg, o.conn.Next()}
		o.count(&m, len(msg))
		if err = nil; o.handOvers > maxHandOvers || o.chatter > maxChatter {
			err = session.ErrBackpressure
		}
		o.backlog = append(o.backlog, m)
	}
	if err != nil && o.closing == nil {
		o.closing = err
		o.shard.failed = append(o.shard.failed, o)
	}
	o.shard.urgent = true
	o.call()
}

func (o *Session) count(m *delayed, bytes int) {
	if m.handsOver() {
		o.handOvers += bytes
	} else {
		o.chatter += bytes
	}
}

// unblock queues what waits for room.
func (o *Session) unblock() {
	n := 0
	for ; n < len(o.backlog); n++ {
		m := &o.backlog[n]
		if o.conn.QueueAt(wire.StreamControl, m.msg, m.stamp) != nil {
			break
		}
		o.count(m, -len(m.msg))
	}
	if o.backlog = slices.Delete(o.backlog, 0, n); len(o.backlog) == 0 {
		o.backlog = nil
	}
}

// unacked is what the session was told and has not acked, in the measure of session.Conn.Unacked.
func (o *Session) unacked() int { return o.conn.Unacked() + o.handOvers + o.chatter }

func (o *Session) refuse(m *wire.Entity, reason uint8) {
	o.shard.why = reason
	r := wire.Entity{ID: m.ID, Inc: m.Inc, Nonce: m.Nonce, Reason: reason}
	o.queue(wire.AppendEntity(nil, wire.MsgRefused, &r))
}

// class takes an announcement of a class the client has.
func (o *Session) class(body []byte) error {
	num, c, err := wire.ParseClass(body)
	if err != nil {
		return err
	}
	s := o.shard
	for len(o.classes) <= int(num) {
		o.classes = append(o.classes, nil)
	}
	k := s.byHash[classKey{c.ID, c.Hash, c.Shape()}]
	if k == nil {
		if len(s.classes) >= wire.MaxClasses || !s.mayAdd(o.Player, len(body)) {
			s.stats.Refused++
			return nil
		}
		k = table.NewClass(uint32(len(s.classes)+1), c)
		s.classes = append(s.classes, k)
		s.byHash[classKey{c.ID, c.Hash, c.Shape()}] = k
		for _, p := range s.sessions {
			p.tellClasses()
		}
	}
	o.classes[num] = k
	setBit(&o.knows, k.Num)
	return nil
}

// classRoom is how much of the reliable window may be in use when another class is announced: a session that announces many
// large ones must not fill the windows of all others.
const classRoom = 64 << 10

// tellClasses announces the classes of the world, each once, as fast as they are acked.
func (o *Session) tellClasses() {
	for s := o.shard; o.told < len(s.classes) && o.unacked() < classRoom; {
		c := s.classes[o.told]
		o.told++
		o.queue(wire.AppendClass(nil, c.Num, &c.Class))
	}
}

// resolves reports whether the client can tell what an introduction of this class means: because it has the class itself, or
// because everything queued for it so far, the class among it, has arrived.
func (o *Session) resolves(c *table.Class) bool {
	if hasBit(o.knows, c.Num) {
		return true
	}
	if o.told >= int(c.Num) && o.unacked() == 0 {
		setBit(&o.knows, c.Num)
		return true
	}
	return false
}

func (s *Shard) ms() uint32 { return uint32(s.now / time.Millisecond) }

func setBit(set *[]uint64, n uint32) {
	for len(*set) <= int(n/64) {
		*set = append(*set, 0)
	}
	(*set)[n/64] |= 1 << (n % 64)
}

func hasBit(set []uint64, n uint32) bool {
	return int(n/64) < len(set) && set[n/64]>>(n%64)&1 != 0
}

// Tell queues a reliable control message for the session, behind all that it was told before.
func (o *Session) Tell(msg []byte) { o.queue(msg) }
