package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// sample returns a writer with every kind of value and a few tensors.
func sample(tb testing.TB) *Writer {
	tb.Helper()
	w := NewWriter()
	for _, kv := range []struct {
		key string
		v   any
	}{
		{"general.architecture", "llama"},
		{"general.alignment", uint32(64)},
		{"u8", uint8(200)},
		{"i8", int8(-100)},
		{"u16", uint16(60000)},
		{"i16", int16(-30000)},
		{"u32", uint32(4e9)},
		{"i32", int32(-2e9)},
		{"u64", uint64(1 << 63)},
		{"i64", int64(-1 << 62)},
		{"f32", float32(0.5)},
		{"f64", 1e300},
		{"yes", true},
		{"no", false},
		{"empty", ""},
		{"int", 7},
		{"negative", -7},
		{"tokens", []string{"a", "", "\xff\x00", "längst"}},
		{"scores", []float32{0, -1.5, 2}},
		{"types", []int32{1, -1, 3}},
		{"flags", []bool{true, false}},
		{"none", []string{}},
		{"bytes", []uint8{1, 2, 255}},
		{"ints", []int{1, 2, 3}},
	} {
		if err := w.Set(kv.key, kv.v); err != nil {
			tb.Fatal(err)
		}
	}
	for _, t := range sampleTensors {
		if err := w.AddTensor(t.name, t.typ, t.shape, pattern(t.name, t.size)); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

var sampleTensors = []struct {
	name  string
	typ   Type
	shape []int
	size  int
}{
	{"token_embd.weight", Q4_0, []int{5, 64}, 5 * 36},
	{"blk.0.norm.weight", F32, []int{7}, 28},
	{"blk.0.conv.weight", F16, []int{2, 3, 1, 4}, 48},
	{"output.weight", Q6_K, []int{3, 256}, 630},
}

// pattern returns bytes that differ between tensors.
func pattern(name string, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) ^ name[i%len(name)]
	}
	return b
}

func encode(tb testing.TB, w *Writer) []byte {
	tb.Helper()
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil {
		tb.Fatal(err)
	}
	if n != int64(b.Len()) {
		tb.Fatalf("WriteTo returned %d, wrote %d bytes", n, b.Len())
	}
	return b.Bytes()
}

func writeFile(tb testing.TB, path string, w *Writer) {
	tb.Helper()
	if err := os.WriteFile(path, encode(tb, w), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// everyWay opens the same bytes through each kind of source.
func everyWay(t *testing.T, data []byte, check func(t *testing.T, f *File)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name string
		open func() (*File, error)
	}{
		{"Open", func() (*File, error) { return Open(path) }},
		{"Read", func() (*File, error) { return Read(bytes.NewReader(data), int64(len(data))) }},
		{"ReadBytes", func() (*File, error) { return ReadBytes(data) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			f, err := way.open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}()
			check(t, f)
		})
	}
}

func TestRoundTrip(t *testing.T) {
	data := encode(t, sample(t))
	everyWay(t, data, func(t *testing.T, f *File) {
		if f.Version() != 3 || f.Size() != int64(len(data)) || len(f.Parts()) != 1 {
			t.Errorf("version %d, size %d, %d parts", f.Version(), f.Size(), len(f.Parts()))
		}
		checkSampleMetadata(t, f)
		if got := len(f.Tensors()); got != len(sampleTensors) {
			t.Fatalf("%d tensors, want %d", got, len(sampleTensors))
		}
		for i, want := range sampleTensors {
			got, ok := f.Tensor(want.name)
			if !ok || got != f.Tensors()[i] {
				t.Fatalf("tensor %q is missing or out of order", want.name)
			}
			if got.Type != want.typ || !reflect.DeepEqual(got.Shape, want.shape) || got.Bytes() != int64(want.size) {
				t.Errorf("%q is %v %v of %d bytes, want %v %v of %d", got.Name, got.Type, got.Shape, got.Bytes(), want.typ, want.shape, want.size)
			}
			if got.Offset()%64 != 0 {
				t.Errorf("%q begins at %d, which is not aligned to 64", got.Name, got.Offset())
			}
			b, err := f.Data(got)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b, pattern(want.name, want.size)) {
				t.Errorf("%q: data differs", got.Name)
			}
			f.Release(got)
			part := make([]byte, 5)
			if err := f.ReadRange(got, int64(want.size-5), part); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(part, pattern(want.name, want.size)[want.size-5:]) {
				t.Errorf("%q: ReadRange differs", got.Name)
			}
			if err := f.ReadRange(got, int64(want.size-4), part); err == nil {
				t.Error("ReadRange beyond the tensor succeeded")
			}
		}
		if _, err := f.Data(&Tensor{Name: "token_embd.weight"}); !errors.Is(err, ErrNoTensor) {
			t.Errorf("Data of a stranger: %v", err)
		}
		if _, err := f.Data(nil); !errors.Is(err, ErrNoTensor) {
			t.Errorf("Data of nil: %v", err)
		}
	})
}

func checkSampleMetadata(t *testing.T, f *File) {
	t.Helper()
	get := func(key string) Value {
		v, ok := f.Get(key)
		if !ok {
			t.Errorf("%q is missing", key)
		}
		return v
	}
	is := func(key string, got any, ok bool, want any) {
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, %v; want %v", key, got, ok, want)
		}
	}
	no := func(what string, ok bool) {
		if ok {
			t.Errorf("%s gave a value", what)
		}
	}
	for key, want := range map[string]uint64{"u8": 200, "u16": 60000, "u32": 4e9, "u64": 1 << 63, "int": 7} {
		got, ok := get(key).Uint()
		is(key, got, ok, want)
	}
	for key, want := range map[string]int64{"i8": -100, "i16": -30000, "i32": -2e9, "i64": -1 << 62, "negative": -7, "u32": 4e9} {
		got, ok := get(key).Int()
		is(key, got, ok, want)
	}
	for key, want := range map[string]float64{"f32": 0.5, "f64": 1e300, "u8": 200, "i8": -100, "u64": 1 << 63} {
		got, ok := get(key).Float()
		is(key, got, ok, want)
	}
	for key, want := range map[string]bool{"yes": true, "no": false} {
		got, ok := get(key).Bool()
		is(key, got, ok, want)
	}
	for key, want := range map[string]string{"general.architecture": "llama", "empty": ""} {
		got, ok := get(key).Str()
		is(key, got, ok, want)
	}
	s, ok := get("tokens").Strings()
	is("tokens", s, ok, []string{"a", "", "\xff\x00", "längst"})
	s, ok = get("none").Strings()
	is("none", s, ok, []string{})
	fl, ok := get("scores").Floats()
	is("scores", fl, ok, []float64{0, -1.5, 2})
	fl, ok = get("types").Floats()
	is("types", fl, ok, []float64{1, -1, 3})
	in, ok := get("types").Ints()
	is("types", in, ok, []int64{1, -1, 3})
	b, ok := get("flags").Bools()
	is("flags", b, ok, []bool{true, false})
	vals, ok := get("tokens").Values()
	is("tokens", len(vals), ok, 4)
	text, ok := vals[3].Str()
	is("tokens[3]", text, ok, "längst")
	elem, ok := get("ints").Elem()
	is("ints", elem, ok, KindUint32)
	is("tokens", get("tokens").Len(), true, 4)

	_, ok = get("u64").Int()
	no("Int of 1<<63", ok)
	_, ok = get("i8").Uint()
	no("Uint of -100", ok)
	_, ok = get("yes").Int()
	no("Int of a bool", ok)
	_, ok = get("yes").Float()
	no("Float of a bool", ok)
	_, ok = get("u8").Str()
	no("Str of a number", ok)
	_, ok = get("u8").Bool()
	no("Bool of a number", ok)
	_, ok = get("scores").Ints()
	no("Ints of floats", ok)
	_, ok = get("scores").Strings()
	no("Strings of floats", ok)
	_, ok = get("tokens").Floats()
	no("Floats of strings", ok)
	_, ok = f.Get("absent")
	no("Get of an absent key", ok)
	if got := f.Keys()[0]; got != "general.architecture" {
		t.Errorf("first key %q", got)
	}
}

func TestNestedArrays(t *testing.T) {
	inner := func(ints ...int32) Value {
		v, _ := encodeValue(ints)
		return v
	}
	w := NewWriter()
	if err := w.Set("nested", []Value{inner(1, 2), inner(), inner(-3)}); err != nil {
		t.Fatal(err)
	}
	everyWay(t, encode(t, w), func(t *testing.T, f *File) {
		v, _ := f.Get("nested")
		rows, ok := v.Values()
		if !ok || len(rows) != 3 {
			t.Fatalf("%d rows, %v", len(rows), ok)
		}
		for i, want := range [][]int64{{1, 2}, {}, {-3}} {
			if got, ok := rows[i].Ints(); !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("row %d = %v, want %v", i, got, want)
			}
		}
	})
}

func TestValuesOutliveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	writeFile(t, path, sample(t))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := f.Get("tokens")
	tensor := f.Tensors()[0]
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if s, ok := v.Strings(); !ok || s[3] != "längst" {
		t.Errorf("after Close: %q", s)
	}
	if _, err := f.Data(tensor); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Data after Close: %v, want os.ErrClosed", err)
	}
	f.Release(tensor)
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	w := NewWriter()
	if err := w.AddTensor("a", F32, []int{2}, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"empty key", w.Set("", 1)},
		{"key not UTF-8", w.Set("\xff", 1)},
		{"type without a form", w.Set("k", struct{}{})},
		{"mixed array", w.Set("k", []Value{{kind: KindBool}, {kind: KindString}})},
		{"alignment", w.Set("general.alignment", uint32(48))},
		{"name twice", w.AddTensor("a", F32, []int{2}, make([]byte, 8))},
		{"no name", w.AddTensor("", F32, []int{2}, make([]byte, 8))},
		{"unknown type", w.AddTensor("b", Type(99), []int{2}, nil)},
		{"removed type", w.AddTensor("b", Type(31), []int{32}, nil)},
		{"no dimension", w.AddTensor("b", F32, nil, nil)},
		{"five dimensions", w.AddTensor("b", F32, []int{1, 1, 1, 1, 1}, make([]byte, 4))},
		{"zero dimension", w.AddTensor("b", F32, []int{0, 2}, nil)},
		{"negative dimension", w.AddTensor("b", F32, []int{-1}, nil)},
		{"part of a block", w.AddTensor("b", Q4_0, []int{2, 33}, nil)},
		{"overflow", w.AddTensor("b", F32, []int{math.MaxInt, math.MaxInt, 2}, nil)},
		{"wrong size", w.AddTensor("b", F32, []int{2}, make([]byte, 9))},
	} {
		if tt.err == nil {
			t.Errorf("%s was accepted", tt.name)
		}
	}
	for name, size := range map[string]int{"too much": 9, "too little": 7} {
		w := NewWriter()
		if err := w.AddTensorFunc("a", F32, []int{2}, func(out io.Writer) error {
			_, err := out.Write(make([]byte, size))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%s: %v, want an error that names the tensor", name, err)
		}
	}
}

func TestTypes(t *testing.T) {
	seen := map[string]bool{}
	for i := range len(layouts) {
		typ := Type(i)
		name := typ.String()
		if name == fmt.Sprintf("type %d", i) {
			t.Errorf("type %d has no name", i)
		}
		if seen[name] {
			t.Errorf("%s occurs twice", name)
		}
		seen[name] = true
		if !typ.Known() {
			continue
		}
		if n, err := typ.RowBytes(3 * typ.BlockLen()); err != nil || n != 3*typ.BlockBytes() {
			t.Errorf("%v: RowBytes = %d, %v", typ, n, err)
		}
	}
	for _, tt := range []struct {
		typ  Type
		bits float64
	}{{F32, 32}, {Q4_0, 4.5}, {Q8_0, 8.5}, {Q4_K, 4.5}, {Q5_K, 5.5}, {Q6_K, 6.5625}, {Q2_K, 2.625}, {Q3_K, 3.4375}, {IQ4_XS, 4.25}, {MXFP4, 4.25}, {NVFP4, 4.5}, {IQ1_S, 1.5625}, {TQ1_0, 1.6875}} {
		if got := 8 * float64(tt.typ.BlockBytes()) / float64(tt.typ.BlockLen()); got != tt.bits {
			t.Errorf("%v has %v bits an element, want %v", tt.typ, got, tt.bits)
		}
	}
	if Type(1<<31).String() != "type 2147483648" || Type(1<<31).Known() {
		t.Error("an unknown type is known")
	}
	for _, n := range []int{-32, 1, 31, 33} {
		if _, err := Q4_0.RowBytes(n); err == nil {
			t.Errorf("RowBytes(%d) of Q4_0 succeeded", n)
		}
	}
}

// shortReader claims more bytes than it has.
type shortReader struct{ *bytes.Reader }

func TestReadShortReader(t *testing.T) {
	data := encode(t, sample(t))
	f, err := Read(shortReader{bytes.NewReader(data[:len(data)-100])}, int64(len(data)))
	if err == nil {
		// The header fitted; the missing tensor must be an error when it is read.
		_, err = f.Data(f.Tensors()[len(f.Tensors())-1])
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want io.ErrUnexpectedEOF", err)
	}
	if _, err := Read(bytes.NewReader(data), -1); !errors.Is(err, ErrFormat) {
		t.Errorf("negative size: %v", err)
	}
}

func TestOpenRefusesFolder(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent.gguf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// TestLazyWriter writes a model of 4 GiB without holding it, to a writer that keeps only its header.
func TestLazyWriter(t *testing.T) {
	w := NewWriter()
	const rows, cols = 1 << 17, 1 << 13
	chunk := make([]byte, 1<<20)
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := w.AddTensorFunc(name, I8, []int{rows, cols}, func(out io.Writer) error {
			for range rows * cols / len(chunk) {
				if _, err := out.Write(chunk); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := w.WriteTo(io.Discard)
	runtime.ReadMemStats(&after)
	if err != nil || n < 4*int64(rows*cols) || n > 4*int64(rows*cols)+4096 {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("writing allocated %d bytes", got)
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{32_000, 250_000} {
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "m.gguf")
			writeFile(b, path, vocabulary(b, n))
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				v, _ := f.Get("tokenizer.ggml.tokens")
				if s, ok := v.Strings(); !ok || len(s) != n {
					b.Fatal("tokens are missing")
				}
				f.Close()
			}
		})
	}
}

// vocabulary returns a model with n tokens and merges and no tensors.
func vocabulary(tb testing.TB, n int) *Writer {
	tb.Helper()
	tokens, merges, types := make([]string, n), make([]string, n), make([]int32, n)
	for i := range tokens {
		tokens[i] = fmt.Sprintf("tok%d", i*i)
		merges[i] = fmt.Sprintf("to k%d", i*i)
		types[i] = 1
	}
	w := NewWriter()
	for key, v := range map[string]any{
		"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges, "tokenizer.ggml.token_type": types,
	} {
		if err := w.Set(key, v); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// putU64 overwrites eight bytes of a copy.
func putU64(data []byte, off int, v uint64) []byte {
	out := bytes.Clone(data)
	binary.LittleEndian.PutUint64(out[off:], v)
	return out
}

func putU32(data []byte, off int, v uint32) []byte {
	out := bytes.Clone(data)
	binary.LittleEndian.PutUint32(out[off:], v)
	return out
}
