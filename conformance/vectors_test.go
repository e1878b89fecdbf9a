package conformance

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

var rewrite = flag.Bool("rewrite", false, "write conformance/vectors anew")

// vector is one value and its bytes. The files in vectors are for everybody who writes an encoder or a decoder; vectors/README.md
// tells how to read them. The Go encoder makes the bytes, the Go decoder reads them back.
type vector struct {
	name  string
	about string // lines
	is    string // what the bytes are
	with  string // what a decoder must know besides
	value any
	bytes []byte
	parse func(b []byte) (any, error)
}

// vectors are all, in the order of their numbers.
func vectors(t testing.TB) []vector {
	return slices.Concat(packetVectors(t), []vector{claimsVector(t)}, messageVectors(), []vector{watchVector()}, membershipVectors(), []vector{destroyedVector(), memberVector()}, entityVectors(), []vector{forgotVector()}, restrictVectors(), viewerVectors(), attachVectors(), []vector{repeatVector()}, frameVectors(), valueVectors(), tieVectors(), motionVectors(), eventVectors())
}

const vectorDir = "vectors"

// TestVectors compares every file with what the encoder makes, and with what the decoder reads.
func TestVectors(t *testing.T) {
	known := map[string]bool{}
	all := vectors(t)
	for _, v := range all {
		file := v.name + ".txt"
		if known[file] {
			t.Errorf("two vectors %s", v.name)
		}
		known[file] = true
		t.Run(v.name, func(t *testing.T) { v.test(t, filepath.Join(vectorDir, file)) })
	}
	if !slices.IsSortedFunc(all, func(a, b vector) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the vectors are not in the order of their numbers")
	}
	files, err := os.ReadDir(vectorDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if numbered := f.Name()[0] <= '9'; numbered && !known[f.Name()] {
			t.Errorf("%s is not in the list of vectors: delete it, or add it there", f.Name())
		}
	}
}

func (v *vector) test(t *testing.T, path string) {
	want := v.text()
	have, err := os.ReadFile(path)
	if *rewrite && string(have) != want {
		v.write(t, path, string(have), want)
		have = []byte(want)
	} else if err != nil {
		t.Fatalf("%v: run this test with -rewrite", err)
	}
	if string(have) != want {
		t.Errorf("%s is not what the encoder makes now. Bytes on the wire may change only with wire.Version. Now:\n%s", path, want)
	}
	got, err := v.parse(vectorBytes(t, string(have)))
	if err != nil {
		t.Fatalf("the decoder: %v", err)
	}
	if r := render(got); r != render(v.value) {
		t.Errorf("the decoder reads\n%s", r)
	}
}

// write keeps bytes that somebody may have built upon: they change with the version only.
func (v *vector) write(t *testing.T, path, have, want string) {
	same := fmt.Sprintf("\nwire: %d\n", wire.Version)
	if strings.Contains(have, same) && !bytes.Equal(vectorBytes(t, have), v.bytes) {
		t.Fatalf("%s: other bytes, the same version: raise wire.Version. If this version was never released, delete the file first", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (v *vector) text() string {
	var b strings.Builder
	for line := range strings.Lines(v.about) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	fmt.Fprintf(&b, "wire: %d\nis: %s\n", wire.Version, v.is)
	if v.with != "" {
		fmt.Fprintf(&b, "with: %s\n", v.with)
	}
	fmt.Fprintf(&b, "value:\n%s\nbytes:\n", render(v.value))
	for row := range slices.Chunk(v.bytes, 32) {
		fmt.Fprintf(&b, "%x\n", row)
	}
	return b.String()
}

// vectorBytes reads the bytes of a file.
func vectorBytes(t testing.TB, file string) []byte {
	_, digits, ok := strings.Cut(file, "\nbytes:\n")
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if !ok || err != nil {
		t.Fatalf("no bytes: %v", err)
	}
	return b
}

// render writes a value as JSON, a field a line, in the order of the wire.
func render(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Struct {
		return inline(r)
	}
	var b strings.Builder
	b.WriteString("{")
	sep := "\n"
	for i := range r.NumField() {
		f := r.Field(i)
		if _, sparse := v.(wire.Entity); sparse && f.IsZero() {
			continue // a message has some of its fields
		}
		fmt.Fprintf(&b, "%s  %q: ", sep, fieldName(r.Type().Field(i).Name))
		sep = ",\n"
		if list, bytes := f.Kind() == reflect.Slice, f.Type().Elem; list && bytes().Kind() == reflect.Struct && f.Len() > 0 {
			for j := range f.Len() {
				fmt.Fprintf(&b, "%s\n    %s", []string{",", "["}[max(0, 1-j)], inline(f.Index(j)))
			}
			b.WriteString("\n  ]")
			continue
		}
		b.WriteString(inline(f))
	}
	return b.String() + "\n}"
}

func inline(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case wire.Count:
		return fmt.Sprintf(`"%d.%d"`, uint32(x>>32), x.N())
	case grid.Chunk:
		return fmt.Sprintf(`"%d %d %d"`, x.X, x.Y, x.Z)
	case wire.ID:
		return fmt.Sprintf(`"%x"`, x[:])
	case wire.PlayerID:
		return fmt.Sprintf(`"%x"`, x[:])
	case [16]byte:
		return fmt.Sprintf(`"%x"`, x[:])
	case []byte:
		return fmt.Sprintf(`"%x"`, x)
	case uint64:
		return fmt.Sprintf(`"0x%x"`, x)
	case string:
		b, _ := json.Marshal(x)
		return string(b)
	}
	switch v.Kind() {
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if _, sparse := v.Interface().(frame); sparse && v.Field(i).IsZero() {
				continue
			}
			fields = append(fields, fmt.Sprintf("%q: %s", fieldName(v.Type().Field(i).Name), inline(v.Field(i))))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, inline(v.Index(i)))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// fieldName writes ClassID as classID and ID as id.
func fieldName(s string) string {
	n := 1
	for n < len(s) && unicode.IsUpper(rune(s[n])) {
		n++
	}
	if n > 1 && n < len(s) {
		n--
	}
	return strings.ToLower(s[:n]) + s[n:]
}

// TestVectorsAreJSON: the value of every file can be read by a program.
func TestVectorsAreJSON(t *testing.T) {
	for _, v := range vectors(t) {
		if !json.Valid([]byte(render(v.value))) {
			t.Errorf("%s:\n%s", v.name, render(v.value))
		}
	}
}

// TestDocumentNamesVectors: every section of the document shows its bytes, and no vector is left out.
func TestDocumentNamesVectors(t *testing.T) {
	doc, err := os.ReadFile("../docs/spec/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for word := range strings.FieldsFuncSeq(string(doc), func(r rune) bool { return !(r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) }) {
		if len(word) > 4 && word[3] == '-' && strings.Trim(word[:3], "0123456789") == "" {
			named[word] = true
		}
	}
	for _, v := range vectors(t) {
		if !named[v.name] {
			t.Errorf("no section names %s", v.name)
		}
		delete(named, v.name)
	}
	for name := range named {
		t.Errorf("there is no vector %s", name)
	}
	if !bytes.Contains(doc, []byte("conformance/vectors")) {
		t.Error("the document does not tell where the vectors are")
	}
}

var errVector = errors.New("not what the vector says it is")
