package throng_test

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng"
)

// Board is a game of noughts and crosses: nine fields of three states, in two bytes. An array could not be replicated
// without a codec.
type Board [9]uint8

var _ throng.NetCodec = (*Board)(nil)

func (*Board) NetForm() (name string, bytes int) { return "board", 2 }

func (d *Board) AppendNet(b []byte) ([]byte, error) {
	n := 0
	for _, f := range d {
		if f > 2 {
			return b, errors.New("a field that is neither empty, nought nor cross")
		}
		n = 3*n + int(f)
	}
	return append(b, byte(n>>8), byte(n)), nil
}

func (d *Board) ParseNet(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, errors.New("no board") // does not happen: the form says two bytes
	}
	n := int(b[0])<<8 | int(b[1])
	for i := range d {
		d[8-i] = uint8(n % 3)
		n /= 3
	}
	if n != 0 {
		return 0, errors.New("no board") // does: anybody may send anything
	}
	return 2, nil
}

func ExampleNetCodec() {
	type Match struct {
		throng.Entity
		Board Board `rep:""`
	}
	_, err := throng.NewSchema(throng.NewClass[Match]("match", throng.ClassConfig{}))
	fmt.Println(err)

	b, _ := (&Board{4: 1, 0: 2}).AppendNet(nil)
	var d Board
	d.ParseNet(b)
	fmt.Printf("%x %v\n", b, d)
	// Output:
	// <nil>
	// 3393 [2 0 0 0 1 0 0 0 0]
}
