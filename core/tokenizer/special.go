package tokenizer

// specials finds the tokens that are matched in the text itself, before it is split: control and unknown tokens where the
// text is trusted, user-defined ones everywhere. It is a trie over bytes; the leftmost match wins, of these the longest.
//
// Source: huggingface/tokenizers, added_vocabulary.rs (leftmost-longest).
type specials struct {
	root  [256]int32 // node of a first byte; 0 when none
	nodes []trieNode // nodes[0] is unused
}

type trieNode struct {
	b             byte
	child, next   int32 // first child and next sibling; 0 when none
	control, user int32 // tokens that end here; -1 when none
}

// maxSpecial is the longest token, in bytes, that is matched in text; a longer one is reached by its id alone. It bounds
// the work a position of text can cause.
const maxSpecial = 256

func (s *specials) add(text string, id int32, user bool) {
	if text == "" || len(text) > maxSpecial {
		return
	}
	if len(s.nodes) == 0 {
		s.nodes = append(s.nodes, trieNode{})
	}
	at := s.root[text[0]]
	if at == 0 {
		at = s.node(text[0], 0)
		s.root[text[0]] = at
	}
	for i := 1; i < len(text); i++ {
		child := s.find(at, text[i])
		if child == 0 {
			child = s.node(text[i], s.nodes[at].child)
			s.nodes[at].child = child
		}
		at = child
	}
	if user {
		s.nodes[at].user = id
	} else {
		s.nodes[at].control = id
	}
}

func (s *specials) node(b byte, next int32) int32 {
	s.nodes = append(s.nodes, trieNode{b: b, next: next, control: -1, user: -1})
	return int32(len(s.nodes) - 1)
}

func (s *specials) find(at int32, b byte) int32 {
	for c := s.nodes[at].child; c != 0; c = s.nodes[c].next {
		if s.nodes[c].b == b {
			return c
		}
	}
	return 0
}

// match returns the longest token that text[i:] starts with and where it ends; control tokens must end by trusted.
func (s *specials) match(text string, i, trusted int) (id int32, end int) {
	id = -1
	at := s.root[text[i]]
	for at != 0 {
		i++
		n := &s.nodes[at]
		switch {
		case n.control >= 0 && i <= trusted:
			id, end = n.control, i
		case n.user >= 0:
			id, end = n.user, i
		}
		if i == len(text) {
			break
		}
		at = s.find(at, text[i])
	}
	return id, end
}
