package quant

import (
	"encoding/binary"
	"math"
)

// Three angles in degrees, each as a whole number of 1/65536 (or 1/256) of a turn, half-up, so that all turns are the
// same. Angles at the end that are 0 are left out:
//
//	65536  256   bytes
//	  0     0    all three are 0
//	  2     1    yaw
//	  4     2    yaw, pitch
//	  6     3    yaw, pitch, roll     little-endian
//
// Most things only turn about one axis, so it stands first. Unreal Engine marks what is 0 with a bit each, in the order
// pitch, yaw, roll: 3 to 51 bits, or 27. The quantised numbers are the same.

// AppendAngles16 writes angles in steps of 1/65536 turn.
func AppendAngles16(b []byte, pitch, yaw, roll float64) ([]byte, error) {
	y, p, r, err := turns(pitch, yaw, roll, 1<<16)
	switch {
	case r != 0:
		b = binary.LittleEndian.AppendUint16(b, uint16(y))
		b = binary.LittleEndian.AppendUint16(b, uint16(p))
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	case p != 0:
		b = binary.LittleEndian.AppendUint16(b, uint16(y))
		b = binary.LittleEndian.AppendUint16(b, uint16(p))
	case y != 0:
		b = binary.LittleEndian.AppendUint16(b, uint16(y))
	}
	return b, err
}

// AppendAngles8 writes angles in steps of 1/256 turn.
func AppendAngles8(b []byte, pitch, yaw, roll float64) ([]byte, error) {
	y, p, r, err := turns(pitch, yaw, roll, 1<<8)
	switch {
	case r != 0:
		b = append(b, byte(y), byte(p), byte(r))
	case p != 0:
		b = append(b, byte(y), byte(p))
	case y != 0:
		b = append(b, byte(y))
	}
	return b, err
}

// ParseAngles16 reads what AppendAngles16 writes: angles from 0 to below 360.
func ParseAngles16(b []byte) (pitch, yaw, roll float64, err error) {
	var q [3]uint16
	if len(b) > 6 || len(b)%2 != 0 {
		return 0, 0, 0, ErrForm
	}
	for i := range len(b) / 2 {
		q[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	if len(b) > 0 && q[len(b)/2-1] == 0 {
		return 0, 0, 0, ErrForm
	}
	return float64(q[1]) * 360 / (1 << 16), float64(q[0]) * 360 / (1 << 16), float64(q[2]) * 360 / (1 << 16), nil
}

// ParseAngles8 reads what AppendAngles8 writes: angles from 0 to below 360.
func ParseAngles8(b []byte) (pitch, yaw, roll float64, err error) {
	var q [3]byte
	if n := copy(q[:], b); n != len(b) || n > 0 && q[n-1] == 0 {
		return 0, 0, 0, ErrForm
	}
	return float64(q[1]) * 360 / (1 << 8), float64(q[0]) * 360 / (1 << 8), float64(q[2]) * 360 / (1 << 8), nil
}

// turns quantises angles to parts of a turn, in the order of the wire.
func turns(pitch, yaw, roll, parts float64) (y, p, r uint32, err error) {
	if !finite(pitch) || !finite(yaw) || !finite(roll) {
		return 0, 0, 0, ErrNotFinite
	}
	return turn(yaw, parts), turn(pitch, parts), turn(roll, parts), nil
}

func turn(angle, parts float64) uint32 {
	if angle <= -360 || angle >= 360 {
		angle = math.Mod(angle, 360) // exact
	}
	return uint32(int64(halfUp(angle*parts/360))) & uint32(parts-1)
}
