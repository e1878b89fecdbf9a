package wire

import "fmt"

// CloseCode says why a session ended: in the session layer's goodbye and in Refuse. Ranges say what a client does
// next, so that an old client knows what to do with a new code:
//
//	  1..99    Never   the user must do something: another token, another build
//	100..199   Fresh   dial again with a fresh token
//	200..299   Later   the same after a while, or another relay
//
// Anything else is Later.
type CloseCode uint16

// Retry is what a client does after a session ended.
type Retry uint8

// The retry classes.
const (
	RetryLater Retry = iota
	RetryFresh
	RetryNever
)

// The codes. A number is never used again.
const (
	CloseGoodbye  CloseCode = 1 // it was asked for
	CloseReplaced CloseCode = 2 // the player opened a newer session (B-131)
	CloseKicked   CloseCode = 3 // the operator ended it
	CloseVersion  CloseCode = 4 // no wire version in common
	CloseWorld    CloseCode = 5 // the token is for another world, or the name is none
	CloseRights   CloseCode = 6 // the token grants nothing that lets one in

	CloseTimeout CloseCode = 100 // nothing, or no Hello, came in time
	CloseClaims  CloseCode = 101 // the token's claims cannot be read
	CloseBehind  CloseCode = 102 // it did not take what it must be told

	CloseFull     CloseCode = 200 // too many sessions or worlds
	CloseProtocol CloseCode = 201 // it broke the protocol
	CloseLimit    CloseCode = 202 // it sent too much (B-132)
	CloseShutdown CloseCode = 203 // the relay stops
)

var closeNames = map[CloseCode]string{
	CloseGoodbye: "goodbye", CloseReplaced: "replaced", CloseKicked: "kicked", CloseVersion: "version", CloseWorld: "world", CloseRights: "rights",
	CloseTimeout: "timeout", CloseClaims: "claims", CloseBehind: "behind",
	CloseFull: "full", CloseProtocol: "protocol", CloseLimit: "limit", CloseShutdown: "shutdown",
}

// Retry is what a client does after a session that ended with this code.
func (c CloseCode) Retry() Retry {
	switch {
	case c >= 1 && c < 100:
		return RetryNever
	case c >= 100 && c < 200:
		return RetryFresh
	}
	return RetryLater
}

func (c CloseCode) String() string {
	if name := closeNames[c]; name != "" {
		return name
	}
	return fmt.Sprintf("code %d", uint16(c))
}

func (r Retry) String() string {
	switch r {
	case RetryNever:
		return "never"
	case RetryFresh:
		return "fresh"
	}
	return "later"
}
