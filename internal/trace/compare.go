package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// maxThings bounds the entities, and the names of fields of each, that a Summary holds.
const maxThings = 1 << 18

// ErrLarge is returned for a capture with more entities than a Summary holds.
var ErrLarge = errors.New("too many entities to compare: cut the capture into pieces")

// Thing is what a capture says of one entity.
type Thing struct {
	Class  string
	Owner  ID
	owned  bool            // Owner is known
	There  bool            // at the end
	End    string          // how it left
	Fields map[string]bool // those that were sent or applied
	Deltas int
	Drops  map[string]int // by reason
}

// Summary is what a capture says of all entities.
type Summary map[ID]*Thing

// Add takes one event into account.
func (s Summary) Add(e *Event) error {
	if e.ID == (ID{}) {
		return nil
	}
	t := s[e.ID]
	if t == nil {
		if len(s) >= maxThings {
			return ErrLarge
		}
		t = &Thing{Fields: map[string]bool{}, Drops: map[string]int{}}
		s[e.ID] = t
	}
	if e.Class != "" {
		t.Class = e.Class
	}
	if e.Drop != "" {
		if len(t.Drops) < MaxFields {
			t.Drops[e.Drop]++
		}
		return nil
	}
	switch e.What {
	case Spawn, Repeat, Bind, Assign, Owner:
		t.Owner, t.owned, t.There, t.End = e.Owner, true, true, ""
	case Register:
		t.There, t.End = true, ""
	case Departure, Unregister:
		t.There, t.End = false, e.Text
	case Delta:
		t.Deltas++
		t.There = true
	}
	for _, f := range e.Fields { // an announcement has them itself, at who drives: no delta follows it
		if len(t.Fields) < 4*MaxFields {
			t.Fields[f] = true
		}
	}
	return nil
}

// Summarize reads a capture to its end.
func Summarize(r *Reader) (Summary, error) {
	s := Summary{}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err == nil {
			err = s.Add(&e)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Difference is one thing that two captures do not say alike of an entity.
type Difference struct {
	ID    ID
	Class string
	// What is entity, class, owner, presence or fields.
	What string
	// A and B are what each of them says.
	A, B string
}

func (d Difference) String() string {
	return fmt.Sprintf("%x %s %s: %s | %s", d.ID[:], d.Class, d.What, d.A, d.B)
}

// Compare says what two captures do not say alike, ordered by entity. How many deltas something took, and which of them were
// dropped, is no difference: it stands beside one, as the likely reason.
func Compare(a, b Summary) []Difference {
	ids := slices.Collect(maps.Keys(a))
	for id := range b {
		if a[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y ID) int { return bytes.Compare(x[:], y[:]) })
	var out []Difference
	for _, id := range ids {
		x, y := a[id], b[id]
		known := x
		if known == nil {
			known = y
		}
		add := func(what, in, other string) {
			out = append(out, Difference{id, known.Class, what, in + x.dropped(), other + y.dropped()})
		}
		if x == nil || y == nil {
			add("entity", x.presence(), y.presence())
			continue
		}
		if x.Class != y.Class && x.Class != "" && y.Class != "" {
			add("class", x.Class, y.Class)
		}
		if x.There != y.There {
			add("presence", x.presence(), y.presence())
		}
		if x.owned && y.owned && x.Owner != y.Owner {
			add("owner", owner(x.Owner), owner(y.Owner))
		}
		if m, n := lacks(y, x), lacks(x, y); m != "" || n != "" {
			add("fields", only(m), only(n))
		}
	}
	return out
}

func owner(id ID) string {
	if id == (ID{}) {
		return "the host"
	}
	return fmt.Sprintf("%x", id[:])
}

func only(fields string) string {
	if fields == "" {
		return "none that the other lacks"
	}
	return "only here: " + fields
}

func (t *Thing) presence() string {
	switch {
	case t == nil:
		return "not there"
	case t.There:
		return "there"
	case t.End != "":
		return "left: " + t.End
	}
	return "never there"
}

// dropped tells what did not arrive.
func (t *Thing) dropped() string {
	if t == nil || len(t.Drops) == 0 {
		return ""
	}
	var all []string
	for _, why := range slices.Sorted(maps.Keys(t.Drops)) {
		all = append(all, fmt.Sprintf("%d %s", t.Drops[why], why))
	}
	return " (dropped: " + strings.Join(all, ", ") + ")"
}

// lacks names the fields of u that t has not.
func lacks(t, u *Thing) string {
	var all []string
	for _, f := range slices.Sorted(maps.Keys(u.Fields)) {
		if !t.Fields[f] {
			all = append(all, f)
		}
	}
	return strings.Join(all, " ")
}
