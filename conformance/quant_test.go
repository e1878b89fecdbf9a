package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/quant"
)

// quantType is what vectors/quant-NAME.txt is about. Each line there is a value, what a decoder makes of it, in how many
// steps or bits, what Unreal Engine needs, and the bytes.
type quantType struct {
	name   string
	width  int // 0: a length in front
	append func(b []byte, v []float64) ([]byte, error)
	parse  func(b []byte) ([]float64, error)
	check  func(t *testing.T, r quantRow)
}

type quantRow struct {
	value, decoded []float64
	steps          []float64
	unreal         string
	body           []byte // without the length
}

func quantTypes() []quantType {
	types := []quantType{
		{"vec3normal", quant.NormalLen,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendNormal(b, [3]float64(v)) },
			func(b []byte) ([]float64, error) { v, err := quant.ParseNormal(b); return v[:], err },
			checkNormalRow},
		{"rotator", 0,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendAngles16(b, v[0], v[1], v[2]) },
			func(b []byte) ([]float64, error) {
				p, y, r, err := quant.ParseAngles16(b)
				return []float64{p, y, r}, err
			},
			func(t *testing.T, r quantRow) { checkAngleRow(t, r, 1<<16) }},
		{"rotatorbyte", 0,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendAngles8(b, v[0], v[1], v[2]) },
			func(b []byte) ([]float64, error) {
				p, y, r, err := quant.ParseAngles8(b)
				return []float64{p, y, r}, err
			},
			func(t *testing.T, r quantRow) { checkAngleRow(t, r, 1<<8) }},
		{"quat", quant.QuatLen,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendQuat(b, [4]float64(v)) },
			func(b []byte) ([]float64, error) { v, err := quant.ParseQuat(b); return v[:], err },
			checkQuatRow},
	}
	for suffix, scale := range map[string]float64{"": 1, "10": 10, "100": 100} {
		types = append(types, quantType{"vec3quantize" + suffix, 0,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendVec3(b, [3]float64(v), scale) },
			func(b []byte) ([]float64, error) { v, err := quant.ParseVec3(b, scale); return v[:], err },
			func(t *testing.T, r quantRow) { checkVecRow(t, r, scale) },
		}, quantType{"vec2quantize" + suffix, 0,
			func(b []byte, v []float64) ([]byte, error) { return quant.AppendVec2(b, [2]float64(v), scale) },
			func(b []byte) ([]float64, error) { v, err := quant.ParseVec2(b, scale); return v[:], err },
			func(t *testing.T, r quantRow) { checkVecRow(t, r, scale) },
		})
	}
	return types
}

// TestQuantVectors compares each line with what the encoder makes and the decoder reads.
func TestQuantVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorDir, "quant-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := quantTypes()
	if len(files) != len(all) {
		t.Errorf("%d files for %d types", len(files), len(all))
	}
	for _, q := range all {
		t.Run(q.name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join(vectorDir, "quant-"+q.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for line := range strings.Lines(string(file)) {
				line = strings.TrimSpace(line)
				if line == "" || line[0] == '#' || strings.HasPrefix(line, "value |") {
					continue
				}
				seen++
				q.line(t, line)
			}
			if seen < 3 {
				t.Errorf("%d lines", seen)
			}
		})
	}
}

// line checks one line. There is no way to write the file anew: who changes a line changes the wire.
func (q *quantType) line(t *testing.T, line string) {
	t.Helper()
	col := strings.Split(line, " | ")
	if len(col) != 6 {
		t.Fatalf("%s: %d columns", line, len(col))
	}
	r := quantRow{value: numbers(t, col[0]), decoded: numbers(t, col[1]), steps: numbers(t, col[2]), unreal: col[3]}
	whole, err := hex.DecodeString(col[5])
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	own, err := q.append(nil, r.value)
	if (err == nil) != (col[4] == "ok") {
		t.Errorf("%s: the encoder says %v", line, err)
	}
	if q.width == 0 {
		own = append([]byte{byte(len(own))}, own...)
	}
	if !bytes.Equal(own, whole) {
		t.Errorf("%s: the encoder makes %x", line, own)
		return
	}
	if r.body = whole; q.width == 0 {
		r.body = whole[1:]
	}
	got, err := q.parse(r.body)
	if err != nil {
		t.Errorf("%s: the decoder: %v", line, err)
		return
	}
	// Written with nine decimals at most.
	if !slices.EqualFunc(got, r.decoded, func(a, b float64) bool { return a == b || math.Abs(a-b) < 5.1e-10 }) {
		t.Errorf("%s: the decoder reads %v", line, got)
	}
	q.check(t, r)
}

func numbers(t *testing.T, s string) (v []float64) {
	t.Helper()
	for word := range strings.FieldsSeq(s) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, x)
	}
	return v
}

// checkVecRow proves that the bits named are those of the largest component, that Unreal Engine needs a header more, and
// that the bytes are what the bits take.
func checkVecRow(t *testing.T, r quantRow, scale float64) {
	n, axes := int(r.steps[0]), len(r.value)
	unreal, length := 7+3*n, (axes*n+7)/8
	if n > 48 {
		scale, length = 1, max(length, 6*axes+1)
	}
	need := 1
	for _, x := range r.decoded {
		q := int64(math.Round(x * scale))
		need = max(need, bits.Len64(uint64(q^q>>63))+1)
	}
	switch {
	case n == 0:
		unreal, length = 199, 8*axes
	case need != n:
		t.Errorf("%v: %d bits, want %d", r.value, need, n)
	case slices.Max(r.decoded) == 0 && slices.Min(r.decoded) == 0:
		length = 0
	}
	if len(r.body) != length {
		t.Errorf("%v: %d bytes, want %d", r.value, len(r.body), length)
	}
	if want := strconv.Itoa(unreal); axes == 3 && r.unreal != want {
		t.Errorf("%v: Unreal takes %s bits, want %s", r.value, r.unreal, want)
	}
}

func checkNormalRow(t *testing.T, r quantRow) {
	for i, want := range r.steps {
		if q := binary.LittleEndian.Uint16(r.body[2*i:]); float64(q) != want {
			t.Errorf("%v: step %d, want %v", r.value, q, want)
		}
	}
}

func checkAngleRow(t *testing.T, r quantRow, parts float64) {
	unreal := 3
	for i, q := range r.steps {
		if math.Abs(q*360/parts-r.decoded[i]) > 5.1e-10 {
			t.Errorf("%v: step %v is no %v", r.value, q, r.decoded[i])
		}
		if q != 0 {
			unreal += int(math.Log2(parts))
		}
	}
	if r.unreal != strconv.Itoa(unreal) {
		t.Errorf("%v: Unreal takes %s bits, want %d", r.value, r.unreal, unreal)
	}
}

func checkQuatRow(t *testing.T, r quantRow) {
	word := binary.LittleEndian.Uint64(append(slices.Clone(r.body), 0, 0))
	got := []float64{float64(word & 3)}
	for i := range 3 {
		got = append(got, float64(int64(word<<(47-15*i))>>49))
	}
	if !slices.Equal(got, r.steps) {
		t.Errorf("%v: %v, want %v", r.value, got, r.steps)
	}
}

// TestQuantRefuses lists bytes that no encoder writes.
func TestQuantRefuses(t *testing.T) {
	for _, q := range quantTypes() {
		if q.width == 0 {
			for _, b := range []string{"00", "0000", "000000"} {
				body, _ := hex.DecodeString(b)
				if _, err := q.parse(body); !errors.Is(err, quant.ErrForm) {
					t.Errorf("%s: %s: %v", q.name, b, err)
				}
			}
		}
		for n := range 40 {
			b := bytes.Repeat([]byte{0xff}, n)
			v, err := q.parse(b)
			if q.width != 0 && err == nil && n != q.width {
				t.Errorf("%s: %d bytes are read", q.name, n)
			}
			for _, x := range v {
				if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
					t.Errorf("%s: %x is read as %s", q.name, b, fmt.Sprint(v))
				}
			}
		}
	}
}
