package trace

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrLine is returned for a line that is no event.
var ErrLine = errors.New("no line of a capture")

// AppendHeader writes the first line, its end included.
func AppendHeader(b []byte, h *Header) []byte {
	b = append(b, `{"trace":`...)
	b = strconv.AppendInt(b, int64(h.Version), 10)
	b = append(b, `,"start":"`...)
	b = h.Start.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	return append(appendText(b, "by", h.By), "}\n"...)
}

// Append writes one line, its end included.
func Append(b []byte, e *Event) []byte {
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, e.Time.Microseconds(), 10)
	b = append(b, `,"cat":"`...)
	b = append(b, e.Cat.String()...)
	b = append(b, '"')
	b = appendText(b, "dir", e.Dir.String())
	b = appendText(b, "what", e.What)
	b = appendID(b, "id", e.ID)
	b = appendText(b, "class", e.Class)
	if len(e.Fields) > 0 {
		b = append(b, `,"fields":[`...)
		for i, f := range e.Fields[:min(len(e.Fields), MaxFields)] {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendQuoted(b, f)
		}
		b = append(b, ']')
	}
	b = appendNumber(b, "bytes", uint64(max(e.Bytes, 0)))
	b = appendText(b, "path", e.Path)
	b = appendText(b, "drop", e.Drop)
	b = appendID(b, "owner", e.Owner)
	b = appendNumber(b, "ver", uint64(e.Version))
	b = appendNumber(b, "term", e.Term)
	b = appendNumber(b, "n", e.N)
	b = appendText(b, "text", e.Text)
	return append(b, "}\n"...)
}

func appendKey(b []byte, key string) []byte {
	b = append(append(b, ',', '"'), key...)
	return append(b, '"', ':')
}

func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendQuoted(appendKey(b, key), s)
}

func appendNumber(b []byte, key string, n uint64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendUint(appendKey(b, key), n, 10)
}

func appendID(b []byte, key string, id ID) []byte {
	if id == (ID{}) {
		return b
	}
	b = append(appendKey(b, key), '"')
	return append(hex.AppendEncode(b, id[:]), '"')
}

// appendQuoted writes a JSON string. Whatever a terminal might take for more than text is escaped: names come from other
// clients.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s { // bytes that are no text come as U+FFFD
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xFFFF:
			b = utf8.AppendRune(b, utf8.RuneError) // it would take two escapes, and nobody misses it
		default:
			b = append(b, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
		}
	}
	return append(b, '"')
}

// line is both kinds of line as encoding/json sees them.
type line struct {
	Trace *int       `json:"trace"`
	Start *time.Time `json:"start"`
	By    string     `json:"by"`

	T      int64    `json:"t"`
	Cat    string   `json:"cat"`
	Dir    string   `json:"dir"`
	What   string   `json:"what"`
	ID     hexID    `json:"id"`
	Class  string   `json:"class"`
	Fields []string `json:"fields"`
	Bytes  uint32   `json:"bytes"`
	Path   string   `json:"path"`
	Drop   string   `json:"drop"`
	Owner  hexID    `json:"owner"`
	Ver    uint32   `json:"ver"`
	Term   uint64   `json:"term"`
	N      uint64   `json:"n"`
	Text   string   `json:"text"`
}

type hexID ID

func (h *hexID) UnmarshalText(t []byte) error {
	if len(t) != 32 {
		return fmt.Errorf("%w: an id of %d digits", ErrLine, len(t))
	}
	_, err := hex.Decode(h[:], t)
	return err
}

// Parse reads one line. A first line gives a header and no event, any other an event and no header.
func Parse(b []byte) (e Event, h *Header, err error) {
	var l line
	if len(b) > MaxLine {
		return e, nil, fmt.Errorf("%w: it has %d bytes", ErrLine, len(b))
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return e, nil, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if l.Trace != nil {
		if *l.Trace < 1 || *l.Trace > Version {
			return e, nil, fmt.Errorf("%w: version %d of the format, this program reads %d: use a newer one", ErrLine, *l.Trace, Version)
		}
		h = &Header{Version: *l.Trace, By: l.By}
		if l.Start != nil {
			h.Start = *l.Start
		}
		return e, h, nil
	}
	cat, ok := ParseCat(l.Cat)
	dir := Here
	switch l.Dir {
	case "in":
		dir = In
	case "out":
		dir = Out
	case "":
	default:
		ok = false
	}
	if !ok || l.What == "" || l.T < 0 || l.T > int64(1<<63-1)/1000 || len(l.Fields) > MaxFields {
		return e, nil, fmt.Errorf("%w: an event without a group, a kind or a time that exist", ErrLine)
	}
	return Event{Time: time.Duration(l.T) * time.Microsecond, Cat: cat, Dir: dir, What: l.What, ID: ID(l.ID), Class: l.Class,
		Fields: l.Fields, Bytes: int(l.Bytes), Path: l.Path, Drop: l.Drop, Owner: ID(l.Owner), Version: l.Ver, Term: l.Term, N: l.N, Text: l.Text}, nil, nil
}
