package authority_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

func ExampleEmbed() {
	quiet := slog.New(slog.DiscardHandler)
	rules := authority.For(Chests, authority.Rules[Chest]{
		Relevant: func(*authority.Viewer, *Chest) authority.Verdict { return authority.Relevant("all see chests") },
	})
	s, err := authority.Embed(context.Background(), relay.Config{Key: token.Key{1}, Logger: quiet}, "127.0.0.1:0", [16]byte{}, Schema,
		authority.Config{Config: throng.Config{World: "hall", Logger: quiet}, Rules: []authority.Rule{rules}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	chest := &Chest{Gold: 12}
	if err := s.Spawn(chest, authority.Ownerless()); err != nil {
		fmt.Println(err)
	}
	if err := s.Tick(nil); err != nil { // 30 times a second, in a game
		fmt.Println(err)
	}
	fmt.Println(s.Life(chest), chest.Role(), s.Relay() != nil)
	// Output: published authority true
}
