package generate

// lookup finds the last tokens of a text in what stands before.
type lookup struct {
	ids  []int32
	last map[uint64]int32 // where a pair of tokens ended last
	prev []int32          // for a place, where the pair that ends there ended before; 0 for nowhere
}

// Bounds of a search.
const (
	lookupPlaces = 16 // places that are looked at
	lookupLength = 32 // how much of the text before is compared
)

func pairOf(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// add appends tokens to the text.
func (l *lookup) add(ids ...int32) {
	if l.last == nil {
		l.last = make(map[uint64]int32, len(ids))
	}
	for _, id := range ids {
		l.ids = append(l.ids, id)
		at := int32(len(l.ids))
		l.prev = append(l.prev, 0)
		if at < 2 {
			continue
		}
		pair := pairOf(l.ids[at-2], id)
		l.prev[at-1] = l.last[pair]
		l.last[pair] = at
	}
}

// find returns what followed the longest part of the text's end that stood there before, the latest of equals, and how long that
// part is; it is at least two tokens long, or nothing is found.
func (l *lookup) find() (next []int32, found int) {
	n := len(l.ids)
	if n < 3 {
		return nil, 0
	}
	at := l.prev[n-1]
	for range lookupPlaces {
		if at == 0 {
			break
		}
		length := 2
		for length < lookupLength && int(at) > length && l.ids[int(at)-1-length] == l.ids[n-1-length] {
			length++
		}
		if length > found {
			next, found = l.ids[at:], length
		}
		at = l.prev[at-1]
	}
	return next, found
}
