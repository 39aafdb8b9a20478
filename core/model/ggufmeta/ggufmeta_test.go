package ggufmeta_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
)

// header writes a GGUF header by hand, so that this test needs nothing but the format.
type header struct{ bytes.Buffer }

func (h *header) put(xs ...any) {
	for _, x := range xs {
		if s, ok := x.(string); ok {
			h.put(uint64(len(s)))
			h.WriteString(s)
			continue
		}
		_ = binary.Write(h, binary.LittleEndian, x)
	}
}

func TestOf(t *testing.T) {
	var h header
	h.WriteString("GGUF")
	h.put(uint32(3), uint64(1), uint64(10))
	h.put("general.architecture", uint32(8), "toy")
	h.put("toy.block_count", uint32(4), uint32(3))
	h.put("toy.eps", uint32(6), float32(0.5))
	h.put("toy.causal", uint32(7), uint8(1))
	h.put("toy.recurrent", uint32(9), uint32(7), uint64(3), uint8(1), uint8(0), uint8(1))
	h.put("toy.heads", uint32(9), uint32(5), uint64(2), int32(4), int32(-1))
	h.put("toy.scales", uint32(9), uint32(6), uint64(1), float32(2))
	h.put("toy.tags", uint32(9), uint32(8), uint64(2), "a", "b")
	h.put("toy.long", uint32(9), uint32(0), uint64(ggufmeta.MaxArray+1), make([]uint8, ggufmeta.MaxArray+1))
	h.put("tokenizer.ggml.bos_token_id", uint32(4), uint32(1))
	h.put("w", uint32(2), uint64(4), uint64(2), uint32(0), uint64(0))
	h.Write(make([]byte, (32-h.Len()%32)%32+32))

	f, err := gguf.ReadBytes(h.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := &model.Metadata{
		Architecture: "toy",
		Values: map[string]any{
			"general.architecture": "toy", "toy.block_count": int64(3), "toy.eps": 0.5, "toy.causal": true,
			"toy.recurrent": []bool{true, false, true}, "toy.heads": []int64{4, -1}, "toy.scales": []float64{2}, "toy.tags": []string{"a", "b"},
		},
		Tensors: map[string]model.TensorInfo{"w": {Type: "F32", Shape: []int{2, 4}}},
	}
	if got := ggufmeta.Of(f); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
