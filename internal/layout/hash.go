package layout

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// HashOf is the number by which two builds find out that they mean the same slots (B-028): SHA-256 over name, canonical
// type, wire words, kind and width of each in order, truncated to 64 bits. It is the same on every machine, and 0 only
// by chance. The class's name is not in it; the class id stands beside it.
func HashOf(fields []Field) uint64 {
	h := sha256.New()
	for _, f := range fields {
		// Quoted, so that no name can look like the start of another field.
		fmt.Fprintf(h, "%q %q %d %d %d\n", f.Name, f.Type, f.Words&Wire, f.Kind, f.Width)
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// FirstDifference names the first slot in which two layouts differ, for the one log line of B-028. It is empty if they
// have the same hash.
func FirstDifference(ours, theirs []Field) string {
	for i := range min(len(ours), len(theirs)) {
		switch o, t := ours[i], theirs[i]; {
		case o.Name != t.Name:
			return fmt.Sprintf("slot %d is %s %s here and %s %s there", i, o.Name, o.Type, t.Name, t.Type)
		case o.Type != t.Type:
			return fmt.Sprintf("slot %d, %s, is %s here and %s there", i, o.Name, o.Type, t.Type)
		case o.Words&Wire != t.Words&Wire:
			return fmt.Sprintf("slot %d, %s, has the words %q here and %q there", i, o.Name, (o.Words & Wire).String(), (t.Words & Wire).String())
		case o.Kind != t.Kind:
			return fmt.Sprintf("slot %d, %s, is a container on one side only", i, o.Name)
		case o.Width != t.Width:
			return fmt.Sprintf("slot %d, %s %s, takes %s here and %s there", i, o.Name, o.Type, bytes(o.Width), bytes(t.Width))
		}
	}
	if n := len(theirs); len(ours) > n {
		return fmt.Sprintf("slot %d, %s %s, is missing there", n, ours[n].Name, ours[n].Type)
	}
	if n := len(ours); len(theirs) > n {
		return fmt.Sprintf("slot %d, %s %s, is missing here", n, theirs[n].Name, theirs[n].Type)
	}
	return ""
}

func bytes(width int) string {
	if width == 0 {
		return "a varying number of bytes"
	}
	return fmt.Sprintf("%d bytes", width)
}
