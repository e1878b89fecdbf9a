package layout

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a declaration, with what to do about it.
type Fault struct {
	Rule    string // the rule broken, such as B-013
	Type    string // the struct type
	Field   string // path of the field from the struct; empty: the type itself
	Word    string // word of the tag; empty: the fault is not in the tag
	Problem string
	Remedy  string
}

func (f *Fault) Error() string {
	what := f.Type
	if strings.HasPrefix(f.Field, "[") { // of what is no struct
		what += f.Field
	} else if f.Field != "" {
		what += "." + f.Field
	}
	if f.Word != "" || f.Rule == "B-011" {
		what += fmt.Sprintf(": word %q", f.Word)
	}
	return fmt.Sprintf("throng: %s %s: %s", what, f.Problem, f.Remedy)
}

func (s *scan) fault(rule, path, word, problem, remedy string) {
	s.faults = append(s.faults, &Fault{Rule: rule, Type: s.l.Type.String(), Field: path, Word: word, Problem: problem, Remedy: remedy})
}
