package main

import (
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority/minion"
)

// Tank is a player's. Minions belong to whoever owns their tank.
type Tank struct {
	throng.Entity
	Pos throng.Vec2 `rep:"position"`
}

// Minion is the server's. Its Key tells clients which of a player's minions it is.
type Minion struct {
	throng.Entity
	Pos throng.Vec2 `rep:"position"`
	Key minion.Key  `rep:"auth"`
	HP  float32     `rep:"auth"`

	tank *Tank         // exposed at spawn; nil: not assigned yet
	by   throng.Object // the AI controller that possesses it
}

// Brain is an AI controller. It is nobody's player, and never replicated.
type Brain struct{ throng.Entity }

var (
	tanks   = throng.NewClass[Tank]("minions.tank", throng.ClassConfig{})
	minions = throng.NewClass[Minion]("minions.minion", throng.ClassConfig{})
	brains  = throng.NewClass[Brain]("minions.brain", throng.ClassConfig{})
	schema  = throng.MustSchema(append(minion.Items(), tanks, minions, brains)...)
)

// actorID is the id of the one minion of a run, so that the owner's wire can be searched for it.
var actorID = throng.StableID("the minion")

const (
	radius    = 34.0  // of a body
	speed     = 300.0 // units a second
	arrival   = 1.0   // units: nearer is there
	dummyFrom = 400.0
	level     = "barracks"
)

// formation is the point that the minion is to stand at. The server's stands there from the start.
var formation = throng.Vec2{X: 1000}

// policy is how the server decides who may know of a minion, and when.
type policy struct {
	name   string
	early  bool // offered from construction on, before its tank is assigned, to everybody
	never  bool // not offered at all
	legacy bool // channels linger as in the reference engine
	rule   rule
	guard  bool // the client refuses a second body

	timeout time.Duration // of legacy; 0: the reference engine's
}

type rule int

const (
	byTank   rule = iota // whose tank it is
	byDirect             // who possesses it: an AI controller
	nobody               // no rule about owners
)

var policies = []policy{
	{name: "gated", rule: byTank, guard: true},
	{name: "legacy", early: true, legacy: true, rule: byTank},
	{name: "rule-only", early: true, rule: byTank},
	{name: "gate-only", rule: nobody},
	{name: "never", never: true, rule: byTank},
	{name: "direct-owner", rule: byDirect},
}

func policyOf(name string) (policy, bool) {
	for _, p := range policies {
		if p.name == name {
			return p, true
		}
	}
	return policy{}, false
}
