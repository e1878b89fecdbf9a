package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads a capture, line by line; it holds one.
type Reader struct {
	r      *bufio.Reader
	header Header
	line   int
	cut    bool
}

// NewReader reads the first line, which must be a header.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{r: bufio.NewReaderSize(r, MaxLine+1)}
	b, err := rd.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("an empty file is no capture")
	}
	if err != nil {
		return nil, err
	}
	_, h, err := Parse(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("line 1: %w", err)
	case h == nil:
		return nil, fmt.Errorf("line 1: %w: a capture begins with its version", ErrLine)
	}
	rd.header = *h
	return rd, nil
}

// Header is the first one.
func (r *Reader) Header() Header { return r.header }

// Cut reports that the last line has no end: whoever wrote the capture was stopped.
func (r *Reader) Cut() bool { return r.cut }

// Next returns the next event, io.EOF behind the last one. Headers in between are passed over.
func (r *Reader) Next() (Event, error) {
	for {
		b, err := r.next()
		if err != nil {
			return Event{}, err
		}
		if len(b) == 0 {
			continue
		}
		e, h, err := Parse(b)
		if err != nil {
			return Event{}, fmt.Errorf("line %d: %w", r.line, err)
		}
		if h == nil {
			return e, nil
		}
	}
}

func (r *Reader) next() ([]byte, error) {
	b, err := r.r.ReadSlice('\n')
	r.line++
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("line %d: %w: it has more than %d bytes", r.line, ErrLine, MaxLine)
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(b)) > 0:
		r.cut = true
		return nil, io.EOF
	case err != nil:
		return nil, err
	}
	return bytes.TrimSpace(b), nil
}
