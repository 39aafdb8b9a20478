package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

// raw builds headers by hand, so that they can be wrong.
type raw []byte

func head(tensors, entries uint64) raw {
	b := raw("GGUF")
	b = binary.LittleEndian.AppendUint32(b, 3)
	return b.u64(tensors).u64(entries)
}

func (b raw) u32(v uint32) raw { return binary.LittleEndian.AppendUint32(b, v) }
func (b raw) u64(v uint64) raw { return binary.LittleEndian.AppendUint64(b, v) }
func (b raw) str(s string) raw { return append(b.u64(uint64(len(s))), s...) }
func (b raw) pad(n int) raw    { return append(b, make([]byte, n)...) }

func (b raw) tensor(name string, typ Type, off uint64, ne ...uint64) raw {
	b = b.str(name).u32(uint32(len(ne)))
	for _, n := range ne {
		b = b.u64(n)
	}
	return b.u32(uint32(typ)).u64(off)
}

func TestMalformed(t *testing.T) {
	good := encode(t, sample(t))
	nested := head(0, 1).str("k").u32(uint32(KindArray))
	for range 40 {
		nested = nested.u32(uint32(KindArray)).u64(1)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want error
		says string
	}{
		{"empty", nil, ErrNotGGUF, "0 bytes"},
		{"other magic", []byte("PK\x03\x04 something else"), ErrNotGGUF, "magic at byte 0"},
		{"only magic", []byte("GGUF"), ErrTruncated, "version at byte 4"},
		{"version 0", putU32(good, 4, 0), ErrVersion, "version 0"},
		{"version 1", putU32(good, 4, 1), ErrVersion, "convert the model again"},
		{"version 4", putU32(good, 4, 4), ErrVersion, "version 4"},
		{"big-endian", putU32(good, 4, 3<<24), ErrBigEndian, "big-endian"},
		{"tensor count", putU64(good, 8, 1<<19), ErrTruncated, "counts at byte 8"},
		{"tensor count, huge", putU64(good, 8, math.MaxUint64), ErrFormat, "tensor count at byte 8"},
		{"metadata count", putU64(good, 16, 1<<40), ErrFormat, "metadata count at byte 16"},
		{"key length", head(0, 1).u64(1 << 40).pad(40), ErrFormat, "metadata 0 at byte 24"},
		{"empty key", head(0, 1).str("").pad(40), ErrFormat, "a name of 0 bytes"},
		{"key not UTF-8", head(0, 1).str("\xff\xfe").pad(40), ErrFormat, "not UTF-8"},
		{"key twice", head(0, 2).str("k").u32(0).pad(1).str("k").u32(0).pad(1), ErrFormat, "occurs twice"},
		{"value kind", head(0, 1).str("k").u32(13).pad(40), ErrFormat, "unknown value kind 13"},
		{"boolean", append(head(0, 1).str("k").u32(uint32(KindBool)), 2), ErrFormat, "a boolean of 2"},
		{"boolean in array", append(head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindBool)).u64(3), 0, 1, 7), ErrFormat, "a boolean of 7"},
		{"string length", head(0, 1).str("k").u32(uint32(KindString)).u64(1 << 40).pad(9), ErrTruncated, `metadata 0 ("k")`},
		{"string length, negative", head(0, 1).str("k").u32(uint32(KindString)).u64(math.MaxUint64).pad(9), ErrFormat, "absurd"},
		{"array kind", head(0, 1).str("k").u32(uint32(KindArray)).u32(99).u64(1).pad(9), ErrFormat, "unknown kind 99"},
		{"array count", head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindUint32)).u64(1 << 62).pad(9), ErrTruncated, "4611686018427387904 uint32 elements"},
		{"string array count", head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindString)).u64(1 << 61).pad(9), ErrTruncated, "string elements"},
		{"string in array", head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindString)).u64(2).str("a").u64(500).pad(9), ErrTruncated, "needs 500 bytes"},
		{"nesting", nested.pad(40), ErrFormat, "nested more than 4 deep"},
		{"alignment of 0", head(0, 1).str("general.alignment").u32(uint32(KindUint32)).u32(0), ErrFormat, "general.alignment"},
		{"alignment of 48", head(0, 1).str("general.alignment").u32(uint32(KindUint32)).u32(48), ErrFormat, "power of two"},
		{"alignment of 4", head(0, 1).str("general.alignment").u32(uint32(KindUint32)).u32(4), ErrFormat, "between 8 and"},
		{"alignment, a string", head(0, 1).str("general.alignment").u32(uint32(KindString)).str("32"), ErrFormat, "want an integer"},
		{"no dimension", head(1, 0).tensor("t", F32, 0).pad(64), ErrFormat, "0 dimensions"},
		{"five dimensions", head(1, 0).tensor("t", F32, 0, 1, 1, 1, 1, 1).pad(64), ErrFormat, "5 dimensions"},
		{"dimension of 0", head(1, 0).tensor("t", F32, 0, 4, 0).pad(64), ErrFormat, "a dimension is 0"},
		{"elements overflow", head(1, 0).tensor("t", F32, 0, 1<<32, 1<<32).pad(64), ErrFormat, "overflows"},
		{"elements overflow by sign", head(1, 0).tensor("t", I8, 0, 1<<63).pad(64), ErrFormat, "overflows"},
		{"bytes overflow", head(1, 0).tensor("t", F64, 0, 1<<62).pad(64), ErrFormat, "overflows"},
		{"part of a block", head(1, 0).tensor("t", Q4_0, 0, 33).pad(64), ErrFormat, "not whole Q4_0 blocks"},
		{"unknown type", head(1, 0).tensor("t", 77, 0, 32).pad(64), ErrType, "type 77 is not known"},
		{"removed type", head(1, 0).tensor("t", 31, 0, 32).pad(64), ErrType, "Q4_0_4_4 (number 31) was removed"},
		{"offset not aligned", head(1, 0).tensor("t", F32, 8, 4).pad(99), ErrFormat, `tensor 0 ("t"): offset at byte`},
		{"offset beyond the file", head(1, 0).tensor("t", F32, 1<<40, 4).pad(99), ErrTruncated, "its header asks for"},
		{"offset absurd", head(1, 0).tensor("t", F32, 1<<63, 4).pad(99), ErrFormat, "absurd"},
		{"offset and size overflow", head(1, 0).tensor("t", I8, 1<<62, 1<<62).pad(99), ErrFormat, "beyond every file"},
		{"overlap", head(2, 0).tensor("a", F32, 0, 16).tensor("b", F32, 32, 4).pad(200), ErrFormat, `overlaps that of "a"`},
		{"same place", head(2, 0).tensor("a", F32, 0, 4).tensor("b", F32, 0, 4).pad(200), ErrFormat, `overlaps that of "a"`},
		{"name twice", head(2, 0).tensor("a", F32, 0, 4).tensor("a", F32, 32, 4).pad(200), ErrFormat, "occurs twice"},
		{"name too long", head(1, 0).tensor(strings.Repeat("x", 2000), F32, 0, 4).pad(200), ErrFormat, "a name of 2000 bytes"},
		{"cut in the data", good[:len(good)-150], ErrTruncated, "download it again"},
		{"cut in the header", good[:200], ErrTruncated, "the file should have at least"},
		{"split part", head(0, 1).str("split.count").u32(uint32(KindUint16)).pad(0).u16(3), ErrSplit, "part 1 of 3"},
		{"split number", head(0, 2).str("split.count").u32(uint32(KindUint16)).u16(3).str("split.no").u32(uint32(KindUint16)).u16(3), ErrFormat, "split.no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, read := range []func() (*File, error){
				func() (*File, error) { return ReadBytes(tt.data) },
				func() (*File, error) { return Read(bytes.NewReader(tt.data), int64(len(tt.data))) },
			} {
				_, err := read()
				if !errors.Is(err, tt.want) {
					t.Fatalf("got %v, want %v", err, tt.want)
				}
				if !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%q does not say %q", err, tt.says)
				}
				var format *FormatError
				var short *TruncatedError
				if !errors.As(err, &format) && !errors.As(err, &short) && tt.want != ErrSplit {
					t.Errorf("%T is not a typed error", err)
				}
			}
		})
	}
}

func (b raw) u16(v uint16) raw { return binary.LittleEndian.AppendUint16(b, v) }

func TestTruncatedSaysHowMuch(t *testing.T) {
	w := NewWriter()
	if err := w.AddTensor("t", F32, []int{100}, make([]byte, 400)); err != nil {
		t.Fatal(err)
	}
	whole := encode(t, w)
	_, err := ReadBytes(whole[:len(whole)-100])
	var short *TruncatedError
	if !errors.As(err, &short) {
		t.Fatalf("%v is not a TruncatedError", err)
	}
	// The padding after the last tensor is not asked for: some writers leave it out.
	padding := int64(len(whole)) % 32
	if padding != 0 {
		t.Fatalf("the writer left %d bytes unpadded", padding)
	}
	if want := int64(len(whole)) - 16; short.Have != int64(len(whole))-100 || short.Want != want {
		t.Errorf("have %d, want %d; expected %d, %d", short.Have, short.Want, len(whole)-100, want)
	}
}

// TestEveryTruncation cuts a good file at every length: always an error, never a panic.
func TestEveryTruncation(t *testing.T) {
	good := encode(t, sample(t))
	f, err := ReadBytes(good)
	if err != nil {
		t.Fatal(err)
	}
	last := f.Tensors()[len(f.Tensors())-1]
	for n := range int(last.Offset() + last.Bytes()) {
		if _, err := ReadBytes(good[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

// TestAllocations measures that a small hostile file cannot make the reader allocate much.
func TestAllocations(t *testing.T) {
	for name, data := range map[string][]byte{
		"array":   head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindUint8)).u64(1 << 39).pad(64),
		"string":  head(0, 1).str("k").u32(uint32(KindString)).u64(1 << 39).pad(64),
		"tensors": head(1<<20, 0).pad(64),
		"entries": head(0, 1<<20).pad(64),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadBytes(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
			t.Errorf("%s: allocated %d bytes for %d", name, got, len(data))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, sample(f)))
	f.Add(encode(f, NewWriter()))
	f.Add([]byte(head(1, 0).tensor("t", Q4_0, 0, 32, 2).pad(99)))
	f.Add([]byte(head(0, 1).str("k").u32(uint32(KindArray)).u32(uint32(KindArray)).u64(1).u32(uint32(KindBool)).u64(2).u16(1)))
	f.Add([]byte(head(0, 1).str("split.count").u32(uint32(KindUint16)).u16(1)))
	f.Add(putU32(encode(f, sample(f)), 4, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadBytes(data)
		other, err2 := Read(bytes.NewReader(data), int64(len(data)))
		if (err == nil) != (err2 == nil) {
			t.Fatalf("ReadBytes: %v; Read: %v", err, err2)
		}
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrSplit) {
				t.Fatalf("an error without a sentinel: %v", err)
			}
			return
		}
		for i, x := range file.Tensors() {
			a, err := file.Data(x)
			if err != nil || int64(len(a)) != x.Bytes() {
				t.Fatalf("%q: %d bytes of %d, %v", x.Name, len(a), x.Bytes(), err)
			}
			b, err := other.Data(other.Tensors()[i])
			if err != nil || !bytes.Equal(a, b) {
				t.Fatalf("%q differs between sources, %v", x.Name, err)
			}
		}
		w := NewWriter()
		for _, key := range file.Keys() {
			v, _ := file.Get(key)
			v.Strings()
			v.Ints()
			v.Floats()
			v.Bools()
			v.Values()
			if err := w.Set(key, v); err != nil {
				t.Fatalf("writing %q back: %v", key, err)
			}
		}
		for _, x := range file.Tensors() {
			data, _ := file.Data(x)
			if err := w.AddTensor(x.Name, x.Type, x.Shape, data); err != nil {
				t.Fatal(err)
			}
		}
		again, err := ReadBytes(encode(t, w))
		if err != nil {
			t.Fatalf("written back: %v", err)
		}
		if len(again.Keys()) != len(file.Keys()) || len(again.Tensors()) != len(file.Tensors()) {
			t.Fatal("written back, something is missing")
		}
	})
}
