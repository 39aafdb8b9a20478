package grammar

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
)

// The whole vocabularies that the property tests use: byte-level BPE and SentencePiece.
var vocabularies = []string{"nano", "llama-spm"}

// readTokenizer reads a vocabulary of core/tokenizer's test data, which must be a whole one.
func readTokenizer(t testing.TB, name string) *tokenizer.Tokenizer {
	t.Helper()
	f, err := os.Open("../../core/tokenizer/testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Model, Pre string
		Tokens     []string
		Types      []int32
		Scores     []float32
		Merges     []string
		Named      [6]int32
	}
	if err := json.NewDecoder(z).Decode(&b); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(&tokenizer.Vocab{
		Model: b.Model, Pre: b.Pre, Tokens: b.Tokens, Types: b.Types, Scores: b.Scores, Merges: b.Merges,
		BOS: b.Named[0], EOS: b.Named[1], EOT: b.Named[2], EOM: b.Named[3], UNK: b.Named[4], PAD: b.Named[5],
	})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// speller spells texts with the tokens of a vocabulary.
type speller struct {
	tok *tokenizer.Tokenizer
	ids map[string][]int32
}

func newSpeller(tok *tokenizer.Tokenizer) *speller {
	s := &speller{tok, map[string][]int32{}}
	for id := range int32(tok.Size()) {
		if text := string(tok.Bytes(id)); text != "" && !tok.IsControl(id) {
			s.ids[text] = append(s.ids[text], id)
		}
	}
	return s
}

// random spells a text with tokens of random lengths, long ones more often.
func (s *speller) random(r *rand.Rand, text string) []int32 {
	var out []int32
	for text != "" {
		var fits []int32
		for n := min(16, len(text)); n > 0; n-- {
			fits = append(fits, s.ids[text[:n]]...)
		}
		id := fits[min(r.IntN(len(fits)), r.IntN(len(fits)))]
		out, text = append(out, id), text[len(s.tok.Bytes(id)):]
	}
	return out
}

// spell is the text of tokens.
func (s *speller) spell(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.Write(s.tok.Bytes(id))
	}
	return b.String()
}

// TestProperties holds the masks of random schemas against random texts, with real vocabularies: a valid text passes token by
// token in every spelling, an invalid one is stopped, and whatever a walk through the masks ends with is valid.
func TestProperties(t *testing.T) {
	for _, name := range vocabularies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testProperties(t, name, 20, 10)
		})
	}
}

// testProperties tests n random schemas.
func testProperties(t *testing.T, vocabulary string, seed uint64, n int) {
	tok := readTokenizer(t, vocabulary)
	engine, err := shared.host.Open(context.Background(), tok)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	r := rand.New(rand.NewPCG(seed, uint64(len(vocabulary))))
	p := &properties{T: t, engine: engine, speller: newSpeller(tok), random: r, generator: &generator{Rand: r}, mask: make([]uint32, words(tok))}
	for range n {
		p.schema()
	}
	t.Logf("seed %d: %d of %d schemas refused; %d valid texts, %d mutants stopped, %d walks ended, %d did not", seed, p.refused, n, p.valid, p.stopped, p.ended, p.endless)
	if p.refused > n/4 || p.valid < 2*n || p.stopped < 4*n || p.ended < n {
		t.Error("too little was tested")
	}
}

type properties struct {
	*testing.T
	*speller
	*generator
	engine grammar.Engine
	random *rand.Rand
	mask   []uint32

	refused, valid, stopped, ended, endless int
}

func (p *properties) schema() {
	s := p.root()
	g, err := grammar.JSONSchema(json.RawMessage(s.schema), grammar.LayoutFree)
	if err != nil {
		p.Fatalf("%s: %v", s.schema, err)
	}
	m, err := p.engine.Matcher(context.Background(), g)
	var refusal *grammar.SchemaError
	if errors.As(err, &refusal) {
		p.refused++
		p.Logf("%s: %v", s.schema, err)
		return
	}
	if err != nil {
		p.Fatalf("%s: %v", s.schema, err)
	}
	_ = m.Close()
	schema, ok := decodeJSON(s.schema)
	if !ok {
		p.Fatalf("not JSON: %s", s.schema)
	}
	for range 3 {
		text := s.draw()
		v, ok := decodeJSON(text)
		if !ok || !valid(schema, schema, v) {
			p.Fatalf("%s: drew %s, which is not valid", s.schema, text)
		}
		p.passes(g, s.schema, text)
		for range 4 {
			p.stops(g, schema, s.schema, p.mutate(text))
		}
	}
	for range 2 {
		p.walk(g, schema, s.schema)
	}
}

// passes checks that a valid text passes in the tokenizer's spelling and in a random one.
func (p *properties) passes(g grammar.Grammar, schema, text string) {
	p.valid++
	spellings := [][]int32{p.speller.random(p.random, text)}
	if ids := p.tok.Encode(text, tokenizer.Options{}); p.spell(ids) == text {
		spellings = append(spellings, ids)
	}
	for _, ids := range spellings {
		if n, accepting := p.follow(g, ids, true); n < len(ids) || !accepting {
			p.Errorf("%s forbids %s behind %q (complete: %v)", schema, text, p.spell(ids[:n]), accepting)
		}
	}
}

// stops checks that a text that is not valid does not pass.
func (p *properties) stops(g grammar.Grammar, root any, schema, text string) {
	if v, ok := decodeJSON(text); ok && valid(root, root, v) {
		return
	}
	p.stopped++
	ids := p.speller.random(p.random, text)
	if n, accepting := p.follow(g, ids, false); n == len(ids) && accepting {
		p.Errorf("%s allows %s", schema, text)
	}
}

// follow accepts tokens; it returns how many, and whether the answer may end there. A valid text's tokens must be in the mask,
// or the mask and the forced tokens must spell the same text in other tokens.
func (p *properties) follow(g grammar.Grammar, ids []int32, masks bool) (n int, accepting bool) {
	m, err := p.engine.Matcher(context.Background(), g)
	if err != nil {
		p.Fatal(err)
	}
	defer m.Close()
	for n, id := range ids {
		if masks {
			if err := m.Mask(p.mask); err != nil {
				p.Fatal(err)
			}
			if p.mask[id/32]>>(id%32)&1 == 0 {
				forced, err := m.FastForward()
				if err != nil {
					p.Fatal(err)
				}
				if rest := p.spell(ids[n:]); len(forced) == 0 || !strings.HasPrefix(rest, p.spell(forced)) {
					p.Errorf("%s: the mask lacks %q behind %q", g.Text, p.spell(ids[n:n+1]), p.spell(ids[:n]))
				}
			}
		}
		if err := m.Accept(id); err != nil {
			if !errors.Is(err, grammar.ErrNotAllowed) {
				p.Fatal(err)
			}
			return n, false
		}
	}
	return len(ids), m.Accepting()
}

// mutate changes a text a little.
func (p *properties) mutate(text string) string {
	runes := []rune(text)
	i := p.IntN(len(runes))
	switch p.IntN(6) {
	case 0:
		return string(slices.Delete(runes, i, i+1))
	case 1:
		return string(runes[:i]) + p.pick(`"`, "1", "-", ",", "}", "]", "a", " x", "\\", ".", "\x01") + string(runes[i:])
	case 2:
		return string(runes[:i])
	case 3:
		return strings.Replace(text, `"`+p.pick("id", "name", "a", "b", "v", "kind", "path")+`":`, `"`+p.pick("\\u0061", "Id", "n", "b", "")+`":`, 1)
	case 4:
		return p.scalar().draw()
	default:
		if strings.HasSuffix(text, "}") && len(text) > 2 { // another value for a name that is given already, spelt differently
			name := p.pick("id", "a", "v", "kind", "path")
			return text[:len(text)-1] + `,"` + p.pick(name, `\u00`+hexDigits(name[0])+name[1:]) + `":` + p.pick("true", "[0]", p.scalar().draw()) + `}`
		}
		return text + p.pick(",", "1", "]", "null")
	}
}

func hexDigits(b byte) string {
	return string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15])
}

// walk takes random tokens of the masks, after a while those that bring the text to an end.
func (p *properties) walk(g grammar.Grammar, root any, schema string) {
	m, err := p.engine.Matcher(context.Background(), g)
	if err != nil {
		p.Fatal(err)
	}
	defer m.Close()
	var ids []int32
	for step := range 150 {
		if m.Stopped() || m.Accepting() && p.IntN(3) == 0 {
			p.ended++
			text := p.spell(ids)
			if v, ok := decodeJSON(text); !ok || !valid(root, root, v) {
				p.Errorf("%s: a walk ended with %s", schema, text)
			}
			return
		}
		if err := m.Mask(p.mask); err != nil {
			p.Fatal(err)
		}
		id, ok := p.choose(step > 20)
		if !ok {
			if !m.Accepting() {
				p.Errorf("%s: nothing may follow %s", schema, p.spell(ids))
			}
			continue
		}
		if err := m.Accept(id); err != nil {
			p.Fatalf("%s: token %d is in the mask behind %q and not accepted: %v", schema, id, p.spell(ids), err)
		}
		ids = append(ids, id)
	}
	p.endless++
}

// choose takes a random token of the mask that ends nothing; short makes it one that ends a string, a list or an object if there
// is one, or else a short one.
func (p *properties) choose(short bool) (int32, bool) {
	var all []int32
	for id := range int32(p.tok.Size()) {
		if p.mask[id/32]>>(id%32)&1 != 0 && !p.tok.IsControl(id) {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	best := all[p.IntN(len(all))]
	if !short && p.IntN(3) > 0 {
		return best, true
	}
	rank := func(id int32) int {
		switch text := string(p.tok.Bytes(id)); {
		case text == "}" || text == "]":
			return 0
		case text == `"`:
			return 1
		case strings.Trim(text, "0123456789") == "":
			return 2 + len(text)
		default:
			return 10 + len(text)
		}
	}
	for range 400 {
		if id := all[p.IntN(len(all))]; rank(id) < rank(best) {
			best = id
		}
	}
	for _, end := range []string{`"`, "]", "}"} {
		for _, id := range p.ids[end] {
			if p.mask[id/32]>>(id%32)&1 != 0 {
				best = id
			}
		}
	}
	return best, true
}
