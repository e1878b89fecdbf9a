package delta

// Floats are handled as bits. Two are the same value if their canonical bits are equal: NaN equals NaN, whatever its
// payload, and −0 equals +0 (B-021). == would say no to the first.

const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
	inf32 = 0x7f800000
	inf64 = 0x7ff0000000000000
)

// canon32 maps every NaN to one and −0 to +0.
func canon32(v uint32) uint32 {
	switch abs := v << 1; { // the sign is gone
	case abs == 0:
		return 0
	case abs > inf32<<1:
		return nan32
	}
	return v
}

// canon64 maps every NaN to one and −0 to +0.
func canon64(v uint64) uint64 {
	switch abs := v << 1; {
	case abs == 0:
		return 0
	case abs > inf64<<1:
		return nan64
	}
	return v
}

func same32(a, b uint32) bool { return a == b || canon32(a) == canon32(b) }
func same64(a, b uint64) bool { return a == b || canon64(a) == canon64(b) }

func finite32(v uint32) bool { return v&inf32 != inf32 }
func finite64(v uint64) bool { return v&inf64 != inf64 }
