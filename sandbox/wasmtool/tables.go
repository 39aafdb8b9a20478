package wasmtool

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	tableSection = 4
	// maxTables and maxEntries bound the tables of a module, which lie in the host's memory, outside of the module's own.
	maxTables  = 8
	maxEntries = 1 << 20
)

// boundTables returns the module with an upper limit on each of its tables, so that none can grow without one. What is no
// module is returned as it is.
//
// Errors: [ErrModule] for a module that begins with more.
// Source: https://webassembly.github.io/spec/core/binary/modules.html#table-section
func boundTables(module []byte) ([]byte, error) {
	const header = 8
	if len(module) < header {
		return module, nil
	}
	rest := module[header:]
	for len(rest) > 0 {
		id, at := rest[0], len(module)-len(rest)
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return module, nil
		}
		body := rest[1+n : 1+n+int(size)]
		rest = rest[1+n+int(size):]
		if id != tableSection {
			continue
		}
		bounded, err := tables(body)
		if err != nil || bounded == nil {
			return module, err
		}
		out := append(slices.Clone(module[:at]), id)
		out = binary.AppendUvarint(out, uint64(len(bounded)))
		return slices.Concat(out, bounded, rest), nil // there is one such section
	}
	return module, nil
}

// tables rewrites the content of a table section; nil is for one that is damaged.
func tables(body []byte) ([]byte, error) {
	number := func() uint64 {
		v, n := binary.Uvarint(body)
		body = body[max(n, 0):]
		return v
	}
	count := number()
	if count > maxTables {
		return nil, fmt.Errorf("%w: it has %d tables, the limit is %d", ErrModule, count, maxTables)
	}
	out := binary.AppendUvarint(nil, count)
	for range count {
		if len(body) < 2 || body[1] > 1 {
			return nil, nil
		}
		kind, limited := body[0], body[1] == 1
		body = body[2:]
		least, most := number(), uint64(maxEntries)
		if limited {
			most = min(most, number())
		}
		if least > maxEntries {
			return nil, fmt.Errorf("%w: it has a table of %d entries, the limit is %d", ErrModule, least, maxEntries)
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(binary.AppendUvarint(out, least), most)
	}
	return append(out, body...), nil
}
