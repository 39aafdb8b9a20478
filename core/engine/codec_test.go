package engine_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

var bounds = engine.Bounds{Columns: 64, Hidden: 8, Vocab: 300}

var batches = map[string]engine.Batch{
	"nothing": {},
	"undo":    {Undo: true},
	"restore": {Restore: math.MaxUint64},
	"decode":  {Pos: 17, Tokens: []int32{299}, Output: engine.Output{Top: 40}},
	"everything": {
		Pos: -1, Forget: []int{0, 3}, Drop: []engine.Checkpoint{9}, Tokens: []int32{1, -2, math.MaxInt32},
		Hidden: []float32{1, float32(math.Inf(1)), -0.5}, Keep: []int{4, 5, 6}, Save: []engine.Checkpoint{1, 2},
		Output: engine.Output{Hidden: engine.AllColumns, Logits: engine.LastColumn, Top: 3, TopOf: engine.AllColumns, Accept: true},
		Draft:  engine.Draft{Token: 7, Count: 16},
	},
}

var results = map[string]engine.Result{
	"nothing": {},
	"everything": {
		Hidden: []float32{1, 2, 3}, Logits: []float32{-1, 4}, Top: [][]engine.Candidate{{{7, 1.5}, {2, -3}}, nil, {{0, 0}}},
		LogSumExp: []float32{2, 3, 4}, Accepted: 2, Next: -1, Draft: []int32{5, -6}, Saved: []engine.Saved{{ID: 5, Bytes: 1 << 40}},
	},
}

func TestCodec(t *testing.T) {
	for name, want := range batches {
		data := engine.AppendBatch(nil, want)
		if got, err := engine.DecodeBatch(data, bounds); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("batch %s: got %+v, %v, want %+v", name, got, err, want)
		}
		for n := range data {
			if _, err := engine.DecodeBatch(data[:n], bounds); !errors.Is(err, engine.ErrEncoding) {
				t.Errorf("batch %s cut at %d: got %v, want %v", name, n, err, engine.ErrEncoding)
			}
		}
	}
	for name, want := range results {
		data := engine.AppendResult(nil, want)
		if got, err := engine.DecodeResult(data, bounds); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("result %s: got %+v, %v, want %+v", name, got, err, want)
		}
		for n := range data {
			if _, err := engine.DecodeResult(data[:n], bounds); !errors.Is(err, engine.ErrEncoding) {
				t.Errorf("result %s cut at %d: got %v, want %v", name, n, err, engine.ErrEncoding)
			}
		}
	}
}

func TestCodecBounds(t *testing.T) {
	for name, b := range map[string]engine.Batch{
		"tokens":      {Tokens: make([]int32, bounds.Columns+1)},
		"hidden":      {Hidden: make([]float32, bounds.Columns*bounds.Hidden+1)},
		"keep":        {Keep: make([]int, engine.MaxKept+1)},
		"forget":      {Forget: make([]int, engine.MaxKept+1)},
		"save":        {Save: make([]engine.Checkpoint, engine.MaxCheckpoints+1)},
		"drop":        {Drop: make([]engine.Checkpoint, engine.MaxCheckpoints+1)},
		"top":         {Output: engine.Output{Top: bounds.Vocab + 1}},
		"draft":       {Draft: engine.Draft{Count: engine.MaxDraft + 1}},
		"a long list": {Tokens: make([]int32, 1<<20)},
	} {
		if _, err := engine.DecodeBatch(engine.AppendBatch(nil, b), bounds); !errors.Is(err, engine.ErrEncoding) {
			t.Errorf("%s: got %v, want %v", name, err, engine.ErrEncoding)
		}
	}
	for name, data := range map[string][]byte{
		"another version": append([]byte{2}, engine.AppendBatch(nil, engine.Batch{})[1:]...),
		"a selection of more columns than a number can say": append(
			bytes.TrimSuffix(engine.AppendBatch(nil, engine.Batch{}), []byte{0, 0, 0, 0, 0, 0}), 0xff, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 0, 0),
		"more behind it": append(engine.AppendBatch(nil, engine.Batch{}), 0),
	} {
		if _, err := engine.DecodeBatch(data, bounds); !errors.Is(err, engine.ErrEncoding) {
			t.Errorf("%s: got %v, want %v", name, err, engine.ErrEncoding)
		}
	}
}

func FuzzDecodeBatch(f *testing.F) {
	for _, b := range batches {
		f.Add(engine.AppendBatch(nil, b))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := engine.DecodeBatch(data, bounds)
		if err != nil {
			return
		}
		once := engine.AppendBatch(nil, b)
		b, err = engine.DecodeBatch(once, bounds)
		if err != nil || !bytes.Equal(engine.AppendBatch(nil, b), once) {
			t.Errorf("encoded again it is other bytes: %v", err)
		}
	})
}

func FuzzDecodeResult(f *testing.F) {
	for _, r := range results {
		f.Add(engine.AppendResult(nil, r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := engine.DecodeResult(data, bounds)
		if err != nil {
			return
		}
		once := engine.AppendResult(nil, r)
		r, err = engine.DecodeResult(once, bounds)
		if err != nil || !bytes.Equal(engine.AppendResult(nil, r), once) {
			t.Errorf("encoded again it is other bytes: %v", err)
		}
	})
}
