package qjs

import (
	"encoding/binary"
	"fmt"
)

// tickDescriptor is the file descriptor that metered code passes to fd_close
// to ask the host whether it may go on. No WASI program holds it: an existing
// import is reused because adding one would renumber every function.
const tickDescriptor = -7777

// tickPeriod is how many units run between two ticks. A unit is one loop
// iteration or one kibibyte of a bulk memory instruction: between 0.1 ms and
// 20 ms of work in all.
const tickPeriod = 100_000

// meter returns the module with a countdown at the head of every loop and
// before every bulk memory instruction:
//
//	loop: k -= 1;            if k <= 0 { k = tickPeriod; fd_close(tickDescriptor) }
//	bulk: k -= length >> 10;                                   (checked by the next loop)
//
// k and the scratch word that holds a length are new private globals. Everything else is copied byte for byte, so the
// shipped quickjs.wasm stays the published file with the published checksum.
//
// Errors: ErrModule for a module it does not understand.
// Source: https://webassembly.github.io/spec/core/binary/
func meter(wasm []byte) ([]byte, error) {
	if len(wasm) < 8 || string(wasm[:4]) != "\x00asm" {
		return nil, fmt.Errorf("%w: no wasm header", ErrModule)
	}
	m := meterer{tick: -1}
	out := append(make([]byte, 0, len(wasm)+len(wasm)/4), wasm[:8]...)
	r := reader{b: wasm, at: 8}
	for r.at < len(r.b) && r.err == nil {
		id := r.byte()
		body := r.bytes(int(r.u32()))
		if r.err != nil {
			break
		}
		var err error
		switch id {
		case 2:
			err = m.imports(body)
		case 6:
			body, err = m.addGlobals(body)
		case 10:
			body, err = m.code(body)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	if r.err != nil {
		return nil, r.err
	}
	if !m.metered {
		return nil, fmt.Errorf("%w: no code section", ErrModule)
	}
	return out, nil
}

type meterer struct {
	k       uint32 // index of the countdown; the scratch global follows it
	tick    int    // function index of fd_close
	hasK    bool
	metered bool
}

func (m *meterer) imports(b []byte) error {
	r := reader{b: b}
	fn := 0
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		r.bytes(int(r.u32()))
		name := string(r.bytes(int(r.u32())))
		if kind := r.byte(); kind != 0 {
			return fmt.Errorf("%w: import %s is not a function", ErrModule, name)
		}
		r.u32()
		if name == "fd_close" {
			m.tick = fn
		}
		fn++
	}
	if r.err == nil && m.tick < 0 {
		return fmt.Errorf("%w: fd_close is not imported", ErrModule)
	}
	return r.err
}

func (m *meterer) addGlobals(b []byte) ([]byte, error) {
	r := reader{b: b}
	m.k = r.u32()
	if r.err != nil {
		return nil, r.err
	}
	m.hasK = true
	out := binary.AppendUvarint(nil, uint64(m.k)+2)
	out = append(out, b[r.at:]...)
	for _, initial := range []int32{tickPeriod, 0} {
		out = append(out, typeI32, mutable)
		out = append(out, i32Const(initial)...)
		out = append(out, opEnd)
	}
	return out, nil
}

func (m *meterer) code(b []byte) ([]byte, error) {
	if m.tick < 0 || !m.hasK {
		return nil, fmt.Errorf("%w: code before imports and globals", ErrModule)
	}
	getK, setK := withIndex(opGlobalGet, m.k), withIndex(opGlobalSet, m.k)
	getN, setN := withIndex(opGlobalGet, m.k+1), withIndex(opGlobalSet, m.k+1)
	loop := join(
		getK, i32Const(1), []byte{opI32Sub}, setK,
		getK, i32Const(0), []byte{opI32LeS, opIf, typeVoid},
		i32Const(tickPeriod), setK,
		i32Const(tickDescriptor), withIndex(opCall, uint32(m.tick)), []byte{opDrop, opEnd},
	)
	bulk := join(
		setN,
		getK, getN, i32Const(10), []byte{opI32ShrU, opI32Sub}, setK,
		getN,
	)
	r := reader{b: b}
	n := r.u32()
	out := binary.AppendUvarint(make([]byte, 0, len(b)+len(b)/4), uint64(n))
	for ; n > 0 && r.err == nil; n-- {
		body := r.bytes(int(r.u32()))
		if r.err != nil {
			break
		}
		f, err := meterBody(body, loop, bulk)
		if err != nil {
			return nil, err
		}
		out = binary.AppendUvarint(out, uint64(len(f)))
		out = append(out, f...)
	}
	m.metered = true
	return out, r.err
}

func meterBody(b, loop, bulk []byte) ([]byte, error) {
	r := reader{b: b}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		r.u32()
		r.byte()
	}
	out := append(make([]byte, 0, len(b)+len(b)/4), b[:r.at]...)
	for r.at < len(b) && r.err == nil {
		start := r.at
		op := r.byte()
		if !r.immediates(op) {
			return nil, fmt.Errorf("%w: opcode %#x at %d", ErrModule, op, start)
		}
		code := b[start:r.at]
		if op == opPrefixFC && (code[1] == subMemoryCopy || code[1] == subMemoryFill) {
			out = append(out, bulk...)
		}
		out = append(out, code...)
		if op == opLoop {
			out = append(out, loop...)
		}
	}
	return out, r.err
}
