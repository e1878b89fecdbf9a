package throng

import "github.com/throng-dev/throng/internal/quant"

// Rotator is an orientation as three angles in degrees, with 16 bits each on the wire: steps of 0.0055°, so what arrives is
// at most 0.0028° off. Any finite angle will do; proxies hold the same one within [0, 360), so −90 arrives as 270. Angles
// that differ by whole turns are the same value.
//
// It takes 1 byte if all angles are 0, 3 if only Yaw is not, 5 without Roll, 7 with it. NaN and infinities are not
// sent: the driver's log names the field, and others keep the value they have.
type Rotator struct{ Pitch, Yaw, Roll float64 }

// RotatorByte is a [Rotator] with 8 bits an angle: steps of 1.40625°, at most 0.703125° off. It takes 1 byte if all angles
// are 0, 2 if only Yaw is not, 3 without Roll, 4 with it.
type RotatorByte struct{ Pitch, Yaw, Roll float64 }

// Rounded returns r as others hold it, and the zero Rotator if an angle is NaN or infinite.
func (r Rotator) Rounded() Rotator {
	var mem [6]byte
	b, _ := quant.AppendAngles16(mem[:0], r.Pitch, r.Yaw, r.Roll)
	r.Pitch, r.Yaw, r.Roll, _ = quant.ParseAngles16(b)
	return r
}

// Rounded returns r as others hold it, and the zero RotatorByte if an angle is NaN or infinite.
func (r RotatorByte) Rounded() RotatorByte {
	var mem [3]byte
	b, _ := quant.AppendAngles8(mem[:0], r.Pitch, r.Yaw, r.Roll)
	r.Pitch, r.Yaw, r.Roll, _ = quant.ParseAngles8(b)
	return r
}
