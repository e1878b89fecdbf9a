package wire

import "encoding/binary"

// A value of a motion slot was so at an instant, and receivers draw it as of then. So it travels with its time:
//
//	up    KindMotion  := time u16 · body of KindDeltas          for classes with a motion slot, in place of KindDeltas
//	down  a record with the motion slot in its mask             age uvarint, between mask and values
//
// All that a frame of KindMotion says was captured in one tick, at time: ms of the relay's clock as the driver estimates it,
// low 16 bits. An age is how long before the time of its bundle the relay holds the value for captured:
//
//	age := still << 13 | ms << 1 | cut         one byte below 64 ms while it moves, else two; MaxAge is that or more
//
// cut changes whenever the entity was put elsewhere: what lies between two values with different cuts was never travelled.
// One bit says it however many records were merged or lost in between. still says that the entity rests there until another record
// comes, so that a receiver does not draw it beyond.

// MaxAge is the greatest age of a record in ms.
const MaxAge = 1<<12 - 1

const ageStill = 1 << 13

// AgeSize is the most bytes that an age takes.
const AgeSize = 2

// Sample is when a record's motion was captured. The zero Sample is of a record without motion.
type Sample struct {
	Timed bool
	Cut   bool
	Still bool
	Age   uint16 // ms
}

// SampleOf is the Sample of what was captured age ms before the bundle's time.
func SampleOf(age uint32, cut, still bool) Sample {
	return Sample{Timed: true, Cut: cut, Still: still, Age: uint16(min(age, MaxAge))}
}

func (s Sample) append(b []byte) []byte {
	v := uint64(s.Age) << 1
	if s.Cut {
		v |= 1
	}
	if s.Still {
		v |= ageStill
	}
	return binary.AppendUvarint(b, v)
}

// parseSample is false if b does not begin with an age.
func parseSample(b []byte) (s Sample, n int) {
	v, n := uvarint(b)
	if n == 0 || v >= 2*ageStill {
		return s, 0
	}
	return Sample{Timed: true, Cut: v&1 != 0, Still: v&ageStill != 0, Age: uint16(v & (ageStill - 1) >> 1)}, n
}

// AppendMotion starts the body of a KindMotion frame; a body of KindDeltas follows.
func AppendMotion(b []byte, timeMS uint32) []byte {
	return binary.LittleEndian.AppendUint16(b, uint16(timeMS))
}

// ParseMotion reads the front of a KindMotion body. near is the relay's time in ms now, from which the high bits come.
func ParseMotion(b []byte, near uint32) (timeMS uint32, deltas []byte, err error) {
	if len(b) < 2 {
		return 0, nil, ErrMalformed
	}
	return Expand16(binary.LittleEndian.Uint16(b), near), b[2:], nil
}
