package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// rule is how a family of byte-level BPE models prepares text. The regular expressions below are those of the models'
// published tokenizer.json; each scanner returns the length of the first pre-token of a text that is not empty, which is
// what the expression would match there. None looks further than the run it takes, so a text is split in linear time.
// The classes are those of Go's Unicode tables; letters newer than a model's own tables may be split otherwise than it was
// trained on.
type rule struct {
	next      func(text string) int
	nfc       bool // normalise to NFC first
	wholeWord bool // a pre-token that is a token is not merged ("ignore_merges")
	addBOS    bool // what AddBOS is when the file does not say
}

var (
	ruleGPT2   = rule{next: nextGPT2}
	ruleDigits = rule{next: nextDigits}
	ruleLlama3 = rule{next: nextLlama3, wholeWord: true, addBOS: true}
	ruleDBRX   = rule{next: nextLlama3}
	ruleQwen2  = rule{next: nextQwen2, nfc: true}
	ruleQwen35 = rule{next: nextQwen35, nfc: true}
)

// rules maps tokenizer.ggml.pre to its rule.
//
// Source: llama.cpp, src/llama-vocab.cpp, for the names that share a rule.
var rules = map[string]rule{
	"gpt-2":            ruleGPT2,
	"phi-2":            ruleGPT2,
	"smollm":           ruleDigits,
	"starcoder":        ruleDigits,
	"refact":           ruleDigits,
	"llama-bpe":        ruleLlama3,
	"llama3":           ruleLlama3,
	"llama-v3":         ruleLlama3,
	"falcon3":          ruleLlama3,
	"pixtral":          ruleLlama3,
	"lfm2":             ruleLlama3,
	"dbrx":             ruleDBRX,
	"smaug-bpe":        ruleDBRX,
	"qwen2":            ruleQwen2,
	"deepseek-r1-qwen": ruleQwen2,
	"qwen35":           ruleQwen35,
}

// class is a set of Unicode classes that a rune belongs to; the four are disjoint.
type class uint8

const (
	letter class = 1 << iota // \p{L}
	mark                     // \p{M}
	number                   // \p{N}
	space                    // \s: White_Space
)

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		table[r] = classOf(r)
	}
	return table
}()

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsSpace(r):
		return space
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return number
	}
	return 0
}

// peek returns the rune that starts at i, its class and its size; size 0 at the end.
func peek(text string, i int) (r rune, c class, size int) {
	if i >= len(text) {
		return 0, 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return rune(b), asciiClass[b], 1
	}
	r, size = utf8.DecodeRuneInString(text[i:])
	return r, classOf(r), size
}

// run returns the end of the runes from i on that are in one of the classes; with want 0, of those in none of reject.
func run(text string, i int, want, reject class) int {
	for {
		_, c, size := peek(text, i)
		if size == 0 || c&reject != 0 || want != 0 && c&want == 0 {
			return i
		}
		i += size
	}
}

// nextGPT2 implements the expression of GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// Source: openai/gpt-2, src/encoder.py; the ByteLevel pre-tokenizer of huggingface/tokenizers.
func nextGPT2(text string) int { return scanGPT2(text, false) }

// nextDigits implements the two steps of StarCoder and SmolLM: every \p{N} is cut out on its own, then the pieces between
// are split as GPT-2 does, where the end of a piece counts as the end of the text.
//
// Source: HuggingFaceTB/SmolLM2, tokenizer.json: Digits(individual_digits) and ByteLevel.
func nextDigits(text string) int {
	if _, c, size := peek(text, 0); c == number {
		return size
	}
	return scanGPT2(text, true)
}

func scanGPT2(text string, numbersEnd bool) int {
	r, c, size := peek(text, 0)
	if r == '\'' {
		if n := contraction(text, false); n > 0 {
			return n
		}
	}
	i := 0
	if r == ' ' {
		_, c2, size2 := peek(text, 1)
		if size2 > 0 && c2 != space && !(numbersEnd && c2 == number) {
			i, c = 1, c2
		}
	}
	switch c {
	case letter, number:
		return run(text, i, c, 0)
	case space:
		return scanSpace(text, size, numbersEnd)
	}
	return run(text, i, 0, space|letter|number)
}

// scanSpace implements \s+(?!\S)|\s+ for a text that starts with a space of the given size: the run, without its last
// rune when something else follows and more than one is there.
func scanSpace(text string, size int, numbersEnd bool) int {
	last, i := 0, size
	for {
		_, c, n := peek(text, i)
		if n == 0 || numbersEnd && c == number {
			return i
		}
		if c != space {
			break
		}
		last = i
		i += n
	}
	if last == 0 {
		return i
	}
	return last
}

// nextLlama3 implements the expression of Llama 3:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// Source: meta-llama/Meta-Llama-3-8B, tokenizer.json.
func nextLlama3(text string) int { return scanCL100K(text, letter, 3) }

// nextQwen2 implements the expression of Qwen 2 and 3, that of Llama 3 with \p{N} in place of \p{N}{1,3}.
//
// Source: Qwen/Qwen2-7B, tokenizer.json.
func nextQwen2(text string) int { return scanCL100K(text, letter, 1) }

// nextQwen35 implements the expression of Qwen 3.5, that of Qwen 2 with marks counted as letters:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// Source: Qwen/Qwen3.5, tokenizer.json.
func nextQwen35(text string) int { return scanCL100K(text, letter|mark, 1) }

// scanCL100K is the common form of the three, after OpenAI's cl100k_base. letters are the classes that make a word;
// digits is the longest run of numbers.
func scanCL100K(text string, letters class, digits int) int {
	r, c, size := peek(text, 0)
	if r == '\'' {
		if n := contraction(text, true); n > 0 {
			return n
		}
	}
	if c&letters != 0 {
		return run(text, size, letters, 0)
	}
	if c == number {
		i := size
		for range digits - 1 {
			_, c, n := peek(text, i)
			if c != number {
				break
			}
			i += n
		}
		return i
	}
	_, c2, _ := peek(text, size)
	if c2&letters != 0 && r != '\r' && r != '\n' {
		return run(text, size, letters, 0)
	}
	if c != space {
		return newlines(text, run(text, 0, 0, space|letters|number))
	}
	if r == ' ' {
		if i := run(text, 1, 0, space|letters|number); i > 1 {
			return newlines(text, i)
		}
	}
	return scanSpaceLines(text, size)
}

// scanSpaceLines implements \s*[\r\n]+|\s+(?!\S)|\s+ for a text that starts with a space: up to the last line break of
// the run when it has one, else as scanSpace.
func scanSpaceLines(text string, size int) int {
	breakEnd := 0
	for i := 0; ; {
		r, c, n := peek(text, i)
		if c != space {
			break
		}
		i += n
		if r == '\r' || r == '\n' {
			breakEnd = i
		}
	}
	if breakEnd > 0 {
		return breakEnd
	}
	return scanSpace(text, size, false)
}

// newlines implements [\r\n]* from i on.
func newlines(text string, i int) int {
	for i < len(text) && (text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// contraction implements 's|'t|'re|'ve|'m|'ll|'d for a text that starts with an apostrophe; 0 when none matches.
// Without regard to case, U+017F (long s) is an s, as it is to the libraries that the models were trained with.
func contraction(text string, ignoreCase bool) int {
	at := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if b := text[i]; ignoreCase && b >= 'A' && b <= 'Z' {
			return b + 'a' - 'A'
		}
		return text[i]
	}
	switch a, b := at(1), at(2); {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case (a == 'r' || a == 'v') && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	const longS = "ſ"
	if ignoreCase && len(text) > len(longS) && text[1:1+len(longS)] == longS {
		return 1 + len(longS)
	}
	return 0
}
