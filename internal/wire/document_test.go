package wire

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The document is the format; these tests hold its tables against the constants that the code works with.

func document(t *testing.T) string {
	b, err := os.ReadFile("../../docs/spec/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDocumentHasTheVersion(t *testing.T) {
	m := regexp.MustCompile(`Protocol version: \*\*(\d+)\*\*`).FindStringSubmatch(document(t))
	if m == nil || m[1] != fmt.Sprint(Version) {
		t.Fatalf("the document is of version %v, wire.Version is %d", m, Version)
	}
}

// section is the text below a heading, up to the next.
func section(t *testing.T, heading string) string {
	_, text, ok := strings.Cut(document(t), "# "+heading+"\n")
	if !ok {
		t.Fatalf("the document has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// table returns the rows of all tables in a section that have a name between backquotes among the first two cells.
func table(t *testing.T, heading string) (rows [][]string) {
	for line := range strings.Lines(section(t, heading)) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.HasPrefix(cells[0], "`") || strings.HasPrefix(cells[1], "`") {
			rows = append(rows, cells)
		}
	}
	return rows
}

func name(cell string) string { return strings.Trim(cell, "`") }

// number reads a cell: decimal, hexadecimal, or milliseconds, which are compared as nanoseconds.
func number(cell string) string {
	cell, ms := strings.CutSuffix(cell, " ms")
	v := constant.MakeFromLiteral(cell, token.INT, 0)
	if ms {
		v = constant.BinaryOp(v, token.MUL, constant.MakeInt64(1e6))
	}
	return v.ExactString()
}

// constants evaluates the constants of a package without building it. What it imports is empty, but for time.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	fset := token.NewFileSet()
	var syntax []*ast.File
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		s, err := parser.ParseFile(fset, f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		syntax = append(syntax, s)
	}
	conf := types.Config{Importer: onlyTime{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, syntax, nil)
	all := map[string]string{}
	for _, n := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(n).(*types.Const); ok && c.Val().Kind() == constant.Int {
			all[n] = c.Val().ExactString()
		}
	}
	return all
}

type onlyTime struct{}

func (onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, errors.New("not needed for constants")
	}
	p := types.NewPackage("time", "time")
	d := types.NewNamed(types.NewTypeName(0, p, "Duration", nil), types.Typ[types.Int64], nil)
	p.Scope().Insert(d.Obj())
	for n, v := range map[string]int64{"Millisecond": 1e6, "Second": 1e9} {
		p.Scope().Insert(types.NewConst(0, p, n, d, constant.MakeInt64(v)))
	}
	p.MarkComplete()
	return p, nil
}

// Every table of numbers has exactly the constants with its prefix.
func TestDocumentHasTheNumbers(t *testing.T) {
	own, session := constants(t, "."), constants(t, "../session")
	for _, tt := range []struct {
		heading, prefix string
		more            map[string]string // rows of another package: names of its constants
		without         []string
	}{
		{"Frame kinds", "Kind", map[string]string{"Piece": "kindPiece", "Ping": "kindPing", "Close": "kindClose"}, nil},
		{"Message types", "Msg", nil, nil},
		{"Reliable messages", "Stream", nil, nil},
		{"Profile flags", "Profile", nil, nil},
		{"Flags of a class", "Class", nil, nil},
		{"Words of a slot", "Word", nil, nil},
		{"Flags of an entity", "Entity", nil, nil},
		{"Reasons of departure", "Why", nil, nil},
		{"Reasons of refusal", "Refused", nil, nil},
		{"Recipients", "To", nil, nil},
		{"Hearing an event", "About", nil, nil},
		{"Reasons why an event reached nobody", "Undelivered", nil, nil},
	} {
		want := map[string]string{}
		for n, v := range own {
			if rest, ok := strings.CutPrefix(n, tt.prefix); ok && rest != "" {
				want[rest] = v
			}
		}
		for n, c := range tt.more {
			want[n] = session[c]
		}
		rows := table(t, tt.heading)
		for _, row := range rows {
			n := name(row[1])
			if want[n] == "" {
				t.Errorf("%s: %s is no constant %s%s", tt.heading, n, tt.prefix, n)
			} else if got := number(row[0]); got != want[n] {
				t.Errorf("%s: %s is %s in the document, %s in the code", tt.heading, n, got, want[n])
			}
			delete(want, n)
		}
		for n := range want {
			t.Errorf("%s: the document lacks %s", tt.heading, n)
		}
		if len(rows) == 0 {
			t.Errorf("%s: no table", tt.heading)
		}
	}
}

func TestDocumentHasTheLimits(t *testing.T) {
	dirs := map[string]string{"wire": ".", "session": "../session", "transport": "../../transport", "table": "../table", "registry": "../registry",
		"token": "../../token"}
	all := map[string]map[string]string{}
	for pkg, dir := range dirs {
		all[pkg] = constants(t, dir)
	}
	told := map[string]bool{}
	for _, row := range table(t, "Limits") {
		n := name(row[0])
		told[n] = true
		pkg, c, _ := strings.Cut(n, ".")
		if want := all[pkg][c]; want == "" {
			t.Errorf("there is no constant %s", n)
		} else if got := number(row[1]); got != want {
			t.Errorf("%s is %s in the document, %s in the code", n, got, want)
		}
	}
	for n := range all["wire"] {
		if strings.HasPrefix(n, "Max") && !told["wire."+n] {
			t.Errorf("the document lacks wire.%s", n)
		}
	}
}

func TestDocumentHasTheCloseCodes(t *testing.T) {
	told := map[CloseCode]bool{}
	for _, row := range table(t, "Close codes") {
		var code CloseCode
		if _, err := fmt.Sscan(row[0], &code); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		told[code] = true
		if code.String() != name(row[1]) || code.Retry().String() != row[2] {
			t.Errorf("%d: the document says %s, %s; the code %v, %v", code, row[1], row[2], code, code.Retry())
		}
	}
	for code := range closeNames {
		if !told[code] {
			t.Errorf("the document lacks %v", code)
		}
	}
}

// The fields of the messages about an entity, in the order of the wire.
func TestDocumentHasTheFields(t *testing.T) {
	fields := map[string]uint16{"inc": fInc, "term": fTerm, "nonce": fNonce, "class": fClass, "hash": fHash, "flags": fFlags, "handle": fHandle, "n": fN,
		"owner": fOwner, "reason": fReason, "version": fVersion, "cert": fCert, "chunk": fChunk, "mask": fMask, "values": fValues, "group": fGroup}
	types := map[string]string{}
	for n, v := range constants(t, ".") {
		if rest, ok := strings.CutPrefix(n, "Msg"); ok {
			types[rest] = v
		}
	}
	told := map[string]bool{}
	for _, row := range table(t, "Messages about an entity") {
		var got, last uint16
		for _, f := range strings.Split(row[1], ", ") {
			if fields[f] <= last {
				t.Errorf("%s: %q is unknown or out of order", row[0], f)
			}
			last = fields[f]
			got |= last
		}
		told[types[name(row[0])]] = true
		var msg int
		if _, err := fmt.Sscan(types[name(row[0])], &msg); err != nil || msg >= len(entityFields) || entityFields[msg] != got {
			t.Errorf("%s has other fields in the code", row[0])
		}
	}
	for msg, f := range entityFields {
		if f != 0 && !told[fmt.Sprint(msg)] {
			t.Errorf("the document lacks message %d", msg)
		}
	}
}

// Links inside the document lead somewhere.
func TestDocumentLinks(t *testing.T) {
	doc := document(t)
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(doc, -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(m[1]), " ", "-"))
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(doc, -1) {
		if !slices.Contains(anchors, m[1]) {
			t.Errorf("no section #%s", m[1])
		}
	}
}
