// Package quant writes numbers in fewer bits than they have in memory.
//
// Every function comes in a pair. Append writes the value behind b, Parse reads a value that fills all of b: lengths stand
// in front and are the caller's, and they are part of the form, since how many bytes a vector or a rotator has says what
// they mean.
//
// A value has one form only (Parse refuses the others, near ties of a Quat excepted), so equal bytes and equal values in
// wire precision are the same. Parse never returns NaN or an infinity, and nothing here allocates but for what Append
// must add to b.
//
// Append returns an error beside the bytes for a value that has no place in the format (B-041): zero for NaN and
// infinities, the nearest there is for what lies outside. The caller decides; a delta is not sent with such bytes.
package quant

import (
	"errors"
	"math"
)

var (
	ErrNotFinite = errors.New("throng: a quantised value that is NaN or infinite: check the step that computes it")
	ErrRange     = errors.New("throng: a Vec3Normal with a component outside −1…1: store NormalOf the vector")
	ErrForm      = errors.New("throng: bytes that are no form of a quantised value: the sender's layout differs")
)

// halfUp rounds to the nearest whole number, halves towards +∞: −0.5 is 0, 1.5 is 2. It is exact where floor(x + 0.5) is
// not, next below a half.
func halfUp(x float64) float64 {
	f := math.Floor(x)
	if x-f >= 0.5 {
		f++
	}
	return f
}

func finite(x float64) bool { return x-x == 0 }
