package wire

// Refusals are the reasons of MsgRefused, MsgRejected and MsgGrantRefused, for people.
var Refusals = [...]string{RefusedIDHeld: "id held", RefusedInvalid: "invalid", RefusedDead: "destroyed", RefusedLimit: "full",
	RefusedNoHost: "no host", RefusedRights: "no right", RefusedNotDriver: "not the driver", RefusedOverdone: "overridden",
	RefusedAbsent: "not in the world", RefusedParked: "waits"}
