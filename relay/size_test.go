package relay

import (
	"math/bits"
	"reflect"
	"testing"
)

// The allocator rounds a peer up: one byte more than 1,024 would cost 128 for each of ten thousand.
func TestPeerFitsItsSizeClass(t *testing.T) {
	if n := reflect.TypeFor[peer]().Size(); bits.UintSize == 64 && n > 1024 {
		t.Errorf("a peer has %d bytes", n)
	}
}
