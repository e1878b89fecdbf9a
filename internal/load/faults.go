package load

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Faults counts what should not happen, and prints the first few.
type Faults struct {
	Out    io.Writer
	Prefix string // of each line

	mu sync.Mutex
	n  int
}

// ShownFaults is how many it prints.
const ShownFaults = 10

// Add counts a fault.
func (f *Faults) Add(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.n++; {
	case f.n <= ShownFaults:
		fmt.Fprintln(f.Out, f.Prefix+text)
	case f.n == ShownFaults+1:
		fmt.Fprintln(f.Out, f.Prefix+"further faults are only counted")
	}
}

// Write takes the logs of clients and relay: of warnings and worse, each line is a fault.
func (f *Faults) Write(lines []byte) (int, error) {
	for rest := string(lines); rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		f.Add(line)
	}
	return len(lines), nil
}

// Count is how many there were.
func (f *Faults) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
