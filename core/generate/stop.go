package generate

import "strings"

// stopper finds the first stop string in a text that comes in pieces, and holds back what may be the beginning of one.
//
// The match is the one that is complete first; among those that end together it is the longest. Neither depends on how
// the text is cut. Source: Knuth, Morris, Pratt, Fast Pattern Matching in Strings, 1977; one automaton a string.
type stopper struct {
	stops []stopString
	held  []byte
}

type stopString struct {
	text string
	back []int // back[n] is the length of the longest proper border of text[:n]
	at   int   // bytes of text matched so far
}

func newStopper(stops []string) *stopper {
	s := &stopper{stops: make([]stopString, len(stops))}
	for i, text := range stops {
		back := make([]int, len(text)+1)
		for n, k := 1, 0; n < len(text); n++ {
			for k > 0 && text[n] != text[k] {
				k = back[k]
			}
			if text[n] == text[k] {
				k++
			}
			back[n+1] = k
		}
		s.stops[i] = stopString{text: text, back: back}
	}
	return s
}

// push adds text and returns what is certain not to belong to a stop string. Once a stop string is complete it returns
// the text before it and the string, and nothing may be pushed any more.
func (s *stopper) push(text string) (certain, stop string) {
	if len(s.stops) == 0 {
		return text, ""
	}
	before := len(s.held)
	s.held = append(s.held, text...)
	for i := range len(text) {
		for j := range s.stops {
			if s.stops[j].step(text[i]) && len(s.stops[j].text) > len(stop) {
				stop = s.stops[j].text
			}
		}
		if stop != "" {
			certain = string(s.held[:before+i+1-len(stop)])
			s.held = nil
			return certain, stop
		}
	}
	hold := 0
	for i := range s.stops {
		hold = max(hold, s.stops[i].at)
	}
	n := len(s.held) - hold
	certain = string(s.held[:n])
	s.held = append(s.held[:0], s.held[n:]...)
	return certain, ""
}

// flush returns what was held back.
func (s *stopper) flush() string {
	rest := string(s.held)
	s.held = nil
	return rest
}

// step moves past a byte and says whether the string is complete.
func (s *stopString) step(b byte) bool {
	for s.at > 0 && s.text[s.at] != b {
		s.at = s.back[s.at]
	}
	if s.text[s.at] == b {
		s.at++
	}
	return s.at == len(s.text)
}

// text decodes the tokens of an answer and cuts it at a stop string.
type text struct {
	decoder Decoder
	stopper *stopper
	all     strings.Builder
}

// push adds a token and returns the text that became certain and the stop string that ended it.
func (t *text) push(id int32) (piece, stop string) {
	piece, stop = t.stopper.push(t.decoder.Push(id))
	t.all.WriteString(piece)
	return piece, stop
}

// end returns the text that was held back, up to a stop string that its end completes.
func (t *text) end() (piece, stop string) {
	piece, stop = t.stopper.push(t.decoder.Flush())
	if stop == "" {
		piece += t.stopper.flush()
	}
	t.all.WriteString(piece)
	return piece, stop
}
