package throngtest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// doomed keeps what a test was failed with.
type doomed struct {
	testing.TB
	text string
}

func (d *doomed) Helper() {}
func (d *doomed) Fatal(args ...any) {
	d.text = fmt.Sprint(args...)
	panic(d)
}

func TestNewFailsOutsideOfABubble(t *testing.T) {
	d := &doomed{TB: t}
	func() {
		defer func() {
			if r := recover(); r != d {
				t.Errorf("it ended by %v", r)
			}
		}()
		throngtest.New(d, throng.MustSchema())
	}()
	if !strings.Contains(d.text, "throng: throngtest.New outside of a bubble") || !strings.Contains(d.text, "synctest.Test") {
		t.Errorf("it says %q", d.text)
	}
}

// A bubble whose clock went on for longer than any calendar tells is one.
func TestNewWorksInABubbleOfAnyAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(30 * 365 * 24 * time.Hour) // of the bubble's clock, which takes no time: nothing is waited for
		throngtest.New(t, throng.MustSchema())
	})
}
