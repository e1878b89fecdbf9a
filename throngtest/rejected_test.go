package throngtest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Letter has fields that may be too much together.
type Letter struct {
	throng.Entity
	N      int32  `rep:""`
	First  string `rep:""`
	Second string `rep:""`
	Third  string `rep:""`
	Fourth string `rep:""`
}

// a value that finds no room beside the others is not applied, the driver is told once, and it goes out again, without a write, when
// the others have made room.
func TestR23RejectedIsTriedAgain(t *testing.T) {
	letters := throng.NewClass[Letter]("letter", throng.ClassConfig{})
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, throng.MustSchema(letters))
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		l := &Letter{}
		if err := a.Spawn(l); err != nil {
			t.Fatal(err)
		}
		seen := func() *Letter { return find[Letter](b, l.NetID()) }
		n.Until(time.Second, "b sees it", func() bool { return seen() != nil })
		rejected := func() bool { return a.Explain(l).Fields[1].Rejected != "" }

		l.Second, l.Third, l.Fourth = strings.Repeat("y", 16000), strings.Repeat("z", 16000), strings.Repeat("z", 16000)
		n.Until(5*time.Second, "the others", func() bool { return len(seen().Second)+len(seen().Third)+len(seen().Fourth) == 48000 })
		l.First = strings.Repeat("x", 6000)
		n.Until(time.Second, "the relay refuses", rejected)
		for range 20 { // other fields go on, and it is told once
			l.N++
			n.Run(200 * time.Millisecond)
		}
		if len(seen().First) != 0 || seen().N != l.N || !rejected() || a.Stats().Rejected != 1 {
			t.Fatalf("%d bytes came, N is %d, rejected %v, told %d times", len(seen().First), seen().N, rejected(), a.Stats().Rejected)
		}
		l.Second = "short" // its slot comes behind the first
		n.Until(time.Second, "both", func() bool { return seen().First == l.First && seen().Second == "short" })
		n.Until(time.Second, "no longer refused", func() bool { return !rejected() })
	})
}
