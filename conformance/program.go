package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Program is a run as data: what it does, to whom, over which paths. Equal programs end equally.
type Program struct {
	Mode  string
	Seed  uint64 // of the network's chance
	Seats []Seat
	Ops   []Op
}

// Seat is one client: the chunk it looks at first, and its path to the relay.
type Seat struct {
	View int
	Link string
}

// Op is one operation of a program. What it names need not be there when it runs: then it does nothing.
type Op struct {
	Wait int // ms since the operation before
	Who  int // seat
	Name string
	Args []int
}

// String is the program as text that Parse reads.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s\nseed %d\n", p.Mode, p.Seed)
	for _, s := range p.Seats {
		fmt.Fprintf(&b, "seat %d %s\n", s.View, s.Link)
	}
	for _, o := range p.Ops {
		fmt.Fprintf(&b, "+%d %d %s", o.Wait, o.Who, o.Name)
		for _, a := range o.Args {
			fmt.Fprintf(&b, " %d", a)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Parse reads a program. Empty lines, and lines that begin with #, say nothing.
func Parse(text string) (*Program, error) {
	p := new(Program)
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("throng: reading a program: line %d: %w", n+1, err)
		}
	}
	if len(p.Seats) == 0 {
		return nil, fmt.Errorf("throng: reading a program: it has no seat: add one, as in %q", "seat 0 lan")
	}
	return p, nil
}

func (p *Program) line(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "mode":
		p.Mode = rest
		_, err = modeOf(rest)
	case word == "seed":
		p.Seed, err = strconv.ParseUint(rest, 10, 64)
	case word == "seat":
		view, link, _ := strings.Cut(rest, " ")
		s := Seat{Link: link}
		if s.View, err = strconv.Atoi(view); err == nil {
			_, err = linkOf(link)
		}
		p.Seats = append(p.Seats, s)
	case word[0] == '+':
		err = p.op(strings.Fields(line))
	default:
		err = fmt.Errorf("%q is no line of a program", line)
	}
	return err
}

func (p *Program) op(f []string) error {
	if len(f) < 3 || opOf(f[2]) == nil {
		return fmt.Errorf("%q names no operation", strings.Join(f, " "))
	}
	o := Op{Name: f[2]}
	for i, s := range append([]string{f[0][1:], f[1]}, f[3:]...) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		switch i {
		case 0:
			o.Wait = n
		case 1:
			o.Who = n
		default:
			o.Args = append(o.Args, n)
		}
	}
	if o.Wait < 0 || o.Who < 0 || o.Who >= len(p.Seats) {
		return fmt.Errorf("seat %d and a wait of %d ms: there are %d seats, and waits are not negative", o.Who, o.Wait, len(p.Seats))
	}
	p.Ops = append(p.Ops, o)
	return nil
}

func (p *Program) clone() *Program {
	q := *p
	q.Seats, q.Ops = slices.Clone(p.Seats), slices.Clone(p.Ops)
	for i := range q.Ops {
		q.Ops[i].Args = slices.Clone(q.Ops[i].Args)
	}
	return &q
}

// arg is argument i, 0 if the text has fewer.
func (o *Op) arg(i int) int {
	if i < len(o.Args) {
		return o.Args[i]
	}
	return 0
}
