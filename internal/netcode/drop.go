package netcode

// Drop says why a datagram was ignored. The peer never learns it; an operator does, from the counters.
type Drop uint8

// The reasons, in the order of the checks. Zero means not dropped.
const (
	_ Drop = iota
	DropShort
	DropKind
	DropSequence
	DropReplay
	DropForged
	DropBody
	DropUnknown
	DropVersion
	DropProtocol
	DropExpired
	DropLife
	DropToken
	DropAddress
	DropRefused
	DropConnected
	DropUsed
	DropBusy
	DropTokens
	DropState
	Drops // how many there are, for a table of counters
)

var dropNames = [Drops]string{
	"", "short", "kind", "sequence", "replay", "forged", "body", "unknown peer", "version", "protocol", "token expired",
	"token lives too long", "token forged", "token for another address", "token refused", "already connected",
	"token used", "too many handshakes", "too many tokens", "state",
}

func (d Drop) String() string {
	if d < Drops {
		return dropNames[d]
	}
	return "?"
}
