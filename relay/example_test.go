package relay_test

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// A relay on the loopback interface, for a game under development.
func ExampleServer_ListenUDP() {
	srv, err := relay.New(relay.Config{
		Key:    token.InsecureDevKey(), // in earnest: token.ReadKey
		Worlds: map[string]relay.World{"town": {ChunkSize: 800, Flat: true}},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := srv.ListenUDP("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() { served <- srv.Serve(l) }()

	// Until the program is asked to stop.
	srv.Close()
	fmt.Println("served:", <-served)
	// Output: served: <nil>
}

// Mistakes are named, all at once, with what to do.
func ExampleNew_mistakes() {
	_, err := relay.New(relay.Config{MaxWorlds: -1, Default: relay.World{Reach: 9, MaxRate: 100}})
	fmt.Println(err)
	// Output:
	// throng: relay config: MaxWorlds -1 is negative: use 1 or more, or 0 for 256
	// throng: relay config: Default.Reach 9 is too far: use 1 to 8 chunks, negative for the own chunk, or 0 for 8
	// throng: relay config: Default.MaxRate 100 is out of range: use 1 to 60 a second, or 0 for 60
}

// A token that lets its bearer into one level.
func ExampleWorldHash() {
	fmt.Printf("%x\n", relay.WorldHash("town"))
	// Output: 2fffd2ef38ba9a85
}
