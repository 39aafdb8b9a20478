package qjs

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The few pieces of the WebAssembly binary format that meter needs.
const (
	typeI32  = 0x7f
	typeVoid = 0x40
	mutable  = 0x01

	opLoop      = 0x03
	opIf        = 0x04
	opEnd       = 0x0b
	opCall      = 0x10
	opDrop      = 0x1a
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opI32Const  = 0x41
	opI32LeS    = 0x4c
	opI32Sub    = 0x6b
	opI32ShrU   = 0x76
	opPrefixFC  = 0xfc

	subMemoryCopy = 10
	subMemoryFill = 11
)

func withIndex(op byte, index uint32) []byte {
	return binary.AppendUvarint([]byte{op}, uint64(index))
}

func i32Const(v int32) []byte {
	out := []byte{opI32Const}
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && b&0x40 == 0) || (v == -1 && b&0x40 != 0) {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// reader walks a WebAssembly binary; the first fault sticks in err.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = fmt.Errorf("%w: truncated at byte %d", ErrModule, r.at)
	}
}

func (r *reader) byte() byte {
	if r.err != nil || r.at >= len(r.b) {
		r.fail()
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b)-r.at {
		r.fail()
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return uint32(v)
		}
	}
	r.fail()
	return 0
}

// skip passes one LEB128 number of up to 64 bits.
func (r *reader) skip() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail()
}

// immediates passes the operands of op. It reports false for an opcode that
// the shipped module does not use (SIMD, threads, exceptions, tail calls).
func (r *reader) immediates(op byte) bool {
	switch {
	case op == 0x02, op == opLoop, op == opIf: // block type
		r.skip()
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == opDrop, op == 0x1b:
	case op == 0x0c, op == 0x0d, op == opCall: // br, br_if, call
		r.skip()
	case op == 0x0e: // br_table
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			r.skip()
		}
		r.skip()
	case op == 0x11: // call_indirect
		r.skip()
		r.skip()
	case op == 0x1c: // select with types
		r.bytes(int(r.u32()))
	case op >= 0x20 && op <= 0x26: // variables and tables
		r.skip()
	case op >= 0x28 && op <= 0x3e: // loads and stores
		r.skip()
		r.skip()
	case op == 0x3f, op == 0x40: // memory.size, memory.grow
		r.byte()
	case op == opI32Const, op == 0x42:
		r.skip()
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op >= 0x45 && op <= 0xc4, op == 0xd1: // numeric, ref.is_null
	case op == 0xd0, op == 0xd2: // ref.null, ref.func
		r.skip()
	case op == opPrefixFC:
		return r.prefixed()
	default:
		return false
	}
	return true
}

func (r *reader) prefixed() bool {
	switch sub := r.u32(); {
	case sub <= 7: // saturating truncations
	case sub == 8, sub == subMemoryCopy, sub == 12, sub == 14:
		r.skip()
		r.skip()
	case sub == 9, sub == subMemoryFill, sub == 13, sub >= 15 && sub <= 17:
		r.skip()
	default:
		return false
	}
	return true
}
