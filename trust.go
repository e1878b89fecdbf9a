package throng

// Trust is what a world does with writes by those who may not: with corrections by a player that is not host, or of what only its owner
// writes, and with destructions by somebody who does not drive. The relay sets it for each world; see [Profile].
type Trust uint8

// The modes.
const (
	TrustStrict  Trust = iota // the relay drops them
	TrustObserve              // they pass as with TrustAll, and the relay logs them
	TrustAll                  // they pass, and each client decides: proxies apply them, the owner does not
)

func (t Trust) String() string { return nameOf("Trust", int(t), "strict", "observe", "trust") }
