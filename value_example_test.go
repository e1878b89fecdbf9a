package throng_test

import (
	"encoding/json"
	"fmt"

	"github.com/throng-dev/throng"
)

func ExampleVec3() {
	from, to := throng.Vec3{X: 0, Y: 0, Z: 0}, throng.Vec3{X: 3, Y: 4, Z: 0}
	fmt.Println(from.Dist(to), from.Lerp(to, 0.5))
	// Output: 5 {1.5 2 0}
}

func ExampleVec2() {
	way := throng.Vec2{X: 3, Y: 4}.Sub(throng.Vec2{X: 0, Y: 0})
	fmt.Println(way.Len(), way.Scale(2))
	// Output: 5 {6 8}
}

func ExampleStableID() {
	fmt.Println(throng.StableID("gate/north") == throng.StableID("gate/north"))
	fmt.Println(throng.StableID("gate/north") == throng.StableID("gate/south"))
	// Output:
	// true
	// false
}

func ExampleNewID() {
	seen := map[throng.NetID]bool{throng.NewID(): true}
	fmt.Println(seen[throng.NewID()])
	// Output: false
}

func ExampleParseNetID() {
	id, err := throng.ParseNetID("00112233445566778899aabbccddeeff")
	fmt.Println(id, err)
	_, err = throng.ParseNetID("gate")
	fmt.Println(err)
	// Output:
	// 00112233445566778899aabbccddeeff <nil>
	// throng: "gate" is no NetID: write its 32 hexadecimal digits
}

func ExamplePlayerID() {
	player := throng.PlayerIDFrom([16]byte{15: 7}) // from the connect token
	saved, _ := json.Marshal(map[string]any{"player": player, "avatar": player.AvatarID() == player.AvatarID()})
	fmt.Println(string(saved))
	// Output: {"avatar":true,"player":"00000000000000000000000000000007"}
}
