package conformance

import "slices"

// shrinker makes a failing program small: it keeps what still breaks a rule, whichever.
type shrinker struct {
	opt  Options
	best *Program
	res  Result
	left int // programs it may still play
}

// fates is how many others it tries for a candidate that does not fail with the chance of the program it comes from: what was left out changes
// which packets there are.
const fates = 3

// Shrink looks for a small program that breaks a rule as p does. It plays at most budget programs; 0: 6,000.
func Shrink(p *Program, opt Options, budget int) (*Program, Result) {
	if budget == 0 {
		budget = 6000
	}
	opt.Log = false
	s := &shrinker{opt: opt, best: p.clone(), left: budget, res: Play(p, opt)}
	if s.res.Bad == "" {
		return p, s.res
	}
	for {
		before := s.left
		size := s.size()
		s.dropOps()
		s.dropSeats()
		s.simplify()
		if s.size() == size || s.left <= 0 || before == s.left {
			return s.best, s.res
		}
	}
}

func (s *shrinker) size() int {
	n := 1000*len(s.best.Ops) + 100*len(s.best.Seats)
	for _, o := range s.best.Ops {
		n += min(o.Wait, 500)
		for _, a := range o.Args {
			n += min(a, 500)
		}
	}
	for _, seat := range s.best.Seats {
		n += seat.View + slices.IndexFunc(links, func(l namedLink) bool { return l.name == seat.Link })
	}
	return n
}

// try keeps a candidate that breaks a rule.
func (s *shrinker) try(p *Program) bool {
	seed := p.Seed
	for i := range fates {
		if s.left--; s.left < 0 {
			return false
		}
		p.Seed = seed + uint64(i)
		if res := Play(p, s.opt); res.Bad != "" {
			s.best, s.res = p, res
			return true
		}
	}
	return false
}

// dropOps leaves out runs of operations, long ones first; those behind wait no longer than before.
func (s *shrinker) dropOps() {
	for n := max(1, len(s.best.Ops)/2); n > 0; n /= 2 {
		for from := len(s.best.Ops) - n; from >= 0 && s.left > 0; from -= n {
			from = min(from, len(s.best.Ops)-n)
			if from < 0 {
				break
			}
			if !s.try(s.without(from, n, true)) && n == 1 {
				s.try(s.without(from, n, false))
			}
		}
	}
}

func (s *shrinker) without(from, n int, keepTime bool) *Program {
	p := s.best.clone()
	wait := 0
	for _, o := range p.Ops[from : from+n] {
		wait += o.Wait
	}
	p.Ops = slices.Delete(p.Ops, from, from+n)
	if keepTime && from < len(p.Ops) {
		p.Ops[from].Wait += wait
	}
	return p
}

// dropSeats leaves out clients. Those behind keep their names: avatars and grants are the seats'.
func (s *shrinker) dropSeats() {
	for i := len(s.best.Seats) - 1; i >= 0 && s.left > 0; i-- {
		p := s.best.clone()
		p.Ops = slices.DeleteFunc(p.Ops, func(o Op) bool { return o.Who == i })
		if len(p.Ops) < len(s.best.Ops) {
			s.try(p)
		}
	}
	for n := len(s.best.Seats); n > 1; n = len(s.best.Seats) { // seats at the end that nobody uses
		if slices.ContainsFunc(s.best.Ops, func(o Op) bool { return o.Who == n-1 }) {
			return
		}
		p := s.best.clone()
		p.Seats = p.Seats[:n-1]
		if !s.try(p) {
			return
		}
	}
}

// simplify tries better paths, nearer views, shorter waits and smaller arguments.
func (s *shrinker) simplify() {
	for i := range s.best.Seats {
		for _, l := range links {
			if l.name == s.best.Seats[i].Link {
				break
			}
			p := s.best.clone()
			p.Seats[i].Link = l.name
			if s.try(p) {
				break
			}
		}
		s.smaller(func(p *Program) *int { return &p.Seats[i].View }, 0)
	}
	for i := range s.best.Ops {
		s.smaller(func(p *Program) *int { return &p.Ops[i].Wait }, 0)
		for a := range s.best.Ops[i].Args {
			if v := s.best.Ops[i].Args[a]; v > 4 && v < refAvatar || v > refPlaced+10 { // names and chunks are as good as others
				s.smaller(func(p *Program) *int { return &p.Ops[i].Args[a] }, 1)
			}
		}
	}
}

// smaller halves the way from a number down to least while the program fails.
func (s *shrinker) smaller(of func(*Program) *int, least int) {
	for _, to := range []int{least, *of(s.best) / 4, *of(s.best) / 2} {
		if to < least || to >= *of(s.best) || s.left <= 0 {
			continue
		}
		p := s.best.clone()
		*of(p) = to
		if s.try(p) {
			return
		}
	}
}
