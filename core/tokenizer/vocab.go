package tokenizer

import (
	"fmt"
	"math"
	"slices"

	"github.com/pooled/pooled/core/gguf"
)

// Token types, with the numbers of tokenizer.ggml.token_type.
const (
	TypeNormal      int32 = 1
	TypeUnknown     int32 = 2 // stands for text that the vocabulary cannot spell
	TypeControl     int32 = 3 // marks structure; never produced from untrusted text
	TypeUserDefined int32 = 4 // added by hand; matched before anything else, everywhere
	TypeUnused      int32 = 5 // padding of the table; never produced from text
	TypeByte        int32 = 6 // "<0x41>": one byte, the fallback of SentencePiece
)

// Metadata keys.
const (
	keyModel       = "tokenizer.ggml.model"
	keyPre         = "tokenizer.ggml.pre"
	keyTokens      = "tokenizer.ggml.tokens"
	keyScores      = "tokenizer.ggml.scores"
	keyTypes       = "tokenizer.ggml.token_type"
	keyMerges      = "tokenizer.ggml.merges"
	keyAddBOS      = "tokenizer.ggml.add_bos_token"
	keyAddEOS      = "tokenizer.ggml.add_eos_token"
	keySpacePrefix = "tokenizer.ggml.add_space_prefix"
	keyBOS         = "tokenizer.ggml.bos_token_id"
	keyEOS         = "tokenizer.ggml.eos_token_id"
	keyEOT         = "tokenizer.ggml.eot_token_id"
	keyEOM         = "tokenizer.ggml.eom_token_id"
	keyUNK         = "tokenizer.ggml.unknown_token_id"
	keyPAD         = "tokenizer.ggml.padding_token_id"
)

// Values of [Vocab].Model.
const (
	ModelBPE = "gpt2"  // byte-level BPE
	ModelSPM = "llama" // SentencePiece BPE
)

// Limits on a vocabulary. The largest published ones have 262,144 tokens, 514,906 merges and 4 MB of text.
const (
	maxTokens     = 1 << 24
	maxMerges     = 1 << 25
	maxTokenBytes = 1 << 30 // all tokens together
)

// Vocab is the vocabulary of a model as its file states it.
//
// Owns: a Vocab is plain data; it must not be changed once it was given to [New].
type Vocab struct {
	Model  string    // ModelBPE or ModelSPM
	Pre    string    // splitting rule of ModelBPE, such as "qwen2"
	Tokens []string  // text by id: in the byte alphabet of GPT-2 for ModelBPE, with U+2581 for a space for ModelSPM
	Scores []float32 // by id; ModelSPM merges the highest score first
	Types  []int32   // by id; nil means that all are normal, except the ids named below
	Merges []string  // "left right", first merged first, for ModelBPE

	BOS, EOS, EOT, EOM, UNK, PAD int32 // -1 when absent

	EOG []int32 // ids that end a generation, ascending; New adds EOS, EOT, EOM and well-known ones by their text

	AddBOS, AddEOS bool // what Options.AddSpecial adds
	AddSpacePrefix bool // ModelSPM: a text is encoded with one space in front
}

// ChatTemplate returns the chat template that a GGUF file carries beside its vocabulary, empty for a base model; get is as
// for [FromMetadata].
func ChatTemplate(get func(key string) (gguf.Value, bool)) string {
	v, _ := get("tokenizer.chat_template")
	text, _ := v.Str()
	return text
}

// FromMetadata reads a vocabulary from the metadata of a GGUF file; get is the Get method of a [gguf.File].
//
// Errors: [UnsupportedError] for a model or splitting rule that is not implemented, [VocabError] for arrays that are
// missing, of the wrong kind or of different lengths, and for ids outside the vocabulary.
func FromMetadata(get func(key string) (gguf.Value, bool)) (*Vocab, error) {
	m := metadata{get: get}
	v := &Vocab{Model: m.str(keyModel), Pre: m.str(keyPre)}
	if m.err != nil {
		return nil, m.err
	}
	rule, err := v.rule()
	if err != nil {
		return nil, err
	}
	v.Tokens = array(&m, keyTokens, gguf.Value.Strings)
	v.Types = narrow(array(&m, keyTypes, gguf.Value.Ints), func(x int64) int32 {
		return int32(max(min(x, math.MaxInt32), math.MinInt32))
	})
	none := int32(-1)
	bos, eos, unk := none, none, none
	if v.Model == ModelSPM {
		v.Scores = narrow(array(&m, keyScores, gguf.Value.Floats), func(x float64) float32 { return float32(x) })
		unk, bos, eos = 0, 1, 2 // SentencePiece's own defaults
	} else {
		v.Merges = array(&m, keyMerges, gguf.Value.Strings)
	}
	v.BOS, v.EOS, v.UNK = m.id(keyBOS, bos), m.id(keyEOS, eos), m.id(keyUNK, unk)
	v.EOT, v.EOM, v.PAD = m.id(keyEOT, none), m.id(keyEOM, none), m.id(keyPAD, none)
	v.AddBOS = m.bool(keyAddBOS, v.Model == ModelSPM || rule.addBOS)
	v.AddEOS = m.bool(keyAddEOS, false)
	v.AddSpacePrefix = m.bool(keySpacePrefix, true) && v.Model == ModelSPM
	if m.err != nil {
		return nil, m.err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	v.EOG = v.ends()
	return v, nil
}

// metadata reads typed values and keeps the first error.
type metadata struct {
	get func(string) (gguf.Value, bool)
	err error
}

func (m *metadata) fail(key, reason string) {
	if m.err == nil {
		m.err = &VocabError{Key: key, Index: -1, Reason: reason}
	}
}

func (m *metadata) str(key string) string {
	x, found := m.get(key)
	if !found {
		return ""
	}
	s, ok := x.Str()
	if !ok {
		m.fail(key, "not a string")
	}
	return s
}

func (m *metadata) bool(key string, absent bool) bool {
	x, found := m.get(key)
	if !found {
		return absent
	}
	b, ok := x.Bool()
	if !ok {
		m.fail(key, "not a boolean")
	}
	return b
}

// id reads a token id; all ones is how some converters write "none".
func (m *metadata) id(key string, absent int32) int32 {
	x, found := m.get(key)
	if !found {
		return absent
	}
	n, ok := x.Int()
	switch {
	case !ok:
		m.fail(key, "not an integer")
	case n == math.MaxUint32 || n == -1:
		return -1
	case n < 0 || n > math.MaxInt32:
		m.fail(key, fmt.Sprintf("token id %d is out of range", n))
	}
	return int32(n)
}

// array reads an array; nil when it is absent.
func array[T any](m *metadata, key string, as func(gguf.Value) ([]T, bool)) []T {
	x, found := m.get(key)
	if !found {
		return nil
	}
	a, ok := as(x)
	if !ok {
		m.fail(key, "array of the wrong kind")
	}
	return a
}

func narrow[A, B any](in []A, f func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

// rule returns the splitting rule, or an error when model or rule is not implemented.
func (v *Vocab) rule() (rule, error) {
	switch v.Model {
	case ModelSPM:
		return rule{}, nil
	case ModelBPE:
		if r, ok := rules[v.Pre]; ok {
			return r, nil
		}
		return rule{}, &UnsupportedError{Key: keyPre, Value: v.Pre}
	}
	return rule{}, &UnsupportedError{Key: keyModel, Value: v.Model}
}

// check reports contradictions between the fields.
func (v *Vocab) check() error {
	bad := func(key string, i int, format string, args ...any) error {
		return &VocabError{Key: key, Index: i, Reason: fmt.Sprintf(format, args...)}
	}
	n := len(v.Tokens)
	switch {
	case n == 0:
		return bad(keyTokens, -1, "no tokens")
	case n > maxTokens:
		return bad(keyTokens, -1, "%d tokens; at most %d are supported", n, maxTokens)
	case v.Types != nil && len(v.Types) != n:
		return bad(keyTypes, -1, "%d types for %d tokens", len(v.Types), n)
	case v.Model == ModelSPM && len(v.Scores) != n:
		return bad(keyScores, -1, "%d scores for %d tokens", len(v.Scores), n)
	case len(v.Merges) > maxMerges:
		return bad(keyMerges, -1, "%d merges; at most %d are supported", len(v.Merges), maxMerges)
	}
	for i, t := range v.Types {
		if t < TypeNormal || t > TypeByte {
			return bad(keyTypes, i, "unknown token type %d", t)
		}
	}
	bytes := 0
	for i, s := range v.Tokens {
		if bytes += len(s); bytes > maxTokenBytes {
			return bad(keyTokens, i, "more than %d bytes of text", maxTokenBytes)
		}
	}
	for _, named := range v.named() {
		if int(named.id) >= n || named.id < -1 {
			return bad(named.key, -1, "token id %d, but the vocabulary has %d tokens", named.id, n)
		}
	}
	for i, id := range v.EOG {
		if id < 0 || int(id) >= n {
			return bad("end-of-generation ids", i, "token id %d, but the vocabulary has %d tokens", id, n)
		}
	}
	return nil
}

type namedID struct {
	key string
	id  int32
}

func (v *Vocab) named() []namedID {
	return []namedID{{keyBOS, v.BOS}, {keyEOS, v.EOS}, {keyEOT, v.EOT}, {keyEOM, v.EOM}, {keyUNK, v.UNK}, {keyPAD, v.PAD}}
}

// kinds returns the type of every token. A file without types says nothing about them: then the ids that it names are
// control tokens, and SentencePiece's byte tokens are known by their text.
func (v *Vocab) kinds() []byte {
	out := make([]byte, len(v.Tokens))
	if v.Types != nil {
		for i, t := range v.Types {
			out[i] = byte(t)
		}
		return out
	}
	for i, s := range v.Tokens {
		out[i] = byte(TypeNormal)
		if _, ok := byteToken(s); ok && v.Model == ModelSPM {
			out[i] = byte(TypeByte)
		}
	}
	for _, named := range v.named() {
		if named.id >= 0 {
			out[named.id] = byte(TypeControl)
			if named.key == keyUNK {
				out[named.id] = byte(TypeUnknown)
			}
		}
	}
	return out
}

// endTexts are the texts by which published chat models end a turn, each with whether a user-defined token counts too:
// some conversions store the marker so, while "</s>" as a user-defined token (Gemma 3) is an HTML tag.
var endTexts = map[string]bool{
	"<|im_end|>":            true, // ChatML: Qwen, SmolLM, Yi
	"<|endoftext|>":         true, // GPT-2, Qwen, Phi
	"<|eot_id|>":            true, // Llama 3
	"<|eom_id|>":            true, // Llama 3.1 tool calls
	"<|end_of_text|>":       true, // Llama 3 base, Granite
	"<|end|>":               true, // Phi 3
	"<|eot|>":               true, // Llama 4
	"<|eom|>":               true, // Llama 4
	"<|end_of_turn|>":       true, // OpenChat
	"<end_of_turn>":         true, // Gemma
	"<EOT>":                 true, // Code Llama
	"<end_of_utterance>":    true, // SmolVLM
	"<|END_OF_TURN_TOKEN|>": true, // Command R
	"<\uff5cend\u2581of\u2581sentence\uff5c>": true, // DeepSeek
	"<eos>": false, // Gemma
	"</s>":  false, // Llama 2, Mistral
}

// ends returns the ids that end a generation, ascending.
func (v *Vocab) ends() []int32 {
	out := slices.Clone(v.EOG)
	for _, id := range []int32{v.EOS, v.EOT, v.EOM} {
		if id >= 0 {
			out = append(out, id)
		}
	}
	for i, t := range v.Types {
		if t != TypeControl && t != TypeUserDefined {
			continue
		}
		if user, known := endTexts[v.Tokens[i]]; known && (user || t == TypeControl) {
			out = append(out, int32(i))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
