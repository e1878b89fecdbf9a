package trace

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// String is the event as one aligned line for people, without an end.
func (e *Event) String() string {
	var b strings.Builder
	id := "-"
	if e.ID != (ID{}) {
		id = hex.EncodeToString(e.ID[:4]) // enough to tell entities apart; the capture has the rest
	}
	fmt.Fprintf(&b, "%11.3f  %-6s %-3s %-10s %-8s %-12s", e.Time.Seconds(), e.Cat, e.Dir, plain(e.What), id, plain(e.Class))
	word := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format, args...) }
	if e.Bytes > 0 {
		word("%d B", e.Bytes)
	}
	if e.Path != "" {
		word("%s", plain(e.Path))
	}
	if len(e.Fields) > 0 {
		word("%s", plain(strings.Join(e.Fields, " ")))
	}
	if e.Version != 0 {
		word("v%d", e.Version)
	}
	if e.Owner != (ID{}) {
		word("player %x", e.Owner[:4])
	}
	if e.N != 0 {
		word("#%d", e.N)
	}
	if e.Text != "" {
		word("%s", plain(e.Text))
	}
	if e.Drop != "" {
		word("DROPPED: %s", plain(e.Drop))
	}
	return strings.TrimRight(b.String(), " ")
}

// plain escapes what a terminal might take for more than text.
func plain(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}
