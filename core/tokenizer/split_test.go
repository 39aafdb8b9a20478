package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct{ pre, text, want string }{ // pre-tokens separated by |
		{"gpt-2", "Hello world", "Hello| world"},
		{"gpt-2", "it's IT'S they'll", "it|'s| IT|'|S| they|'ll"},
		{"gpt-2", "a  b", "a| | b"},
		{"gpt-2", "a   \n", "a|   \n"},
		{"gpt-2", "x 123!?", "x| 123|!?"},
		{"gpt-2", "a\u00a0b", "a|\u00a0|b"},
		{"smollm", "x 123  4 ", "x| |1|2|3|  |4| "},
		{"smollm", "a  b", "a| | b"},
		{"llama-bpe", "12345", "123|45"},
		{"llama-bpe", "IT'S they'LL 'x", "IT|'S| they|'LL| '|x"},
		{"llama-bpe", "a\tb\t\tc", "a|\tb|\t|\tc"},
		{"llama-bpe", "x;\r\n\r\n  y", "x|;\r\n\r\n| | y"},
		{"llama-bpe", "a \n \n  b", "a| \n \n| | b"},
		{"llama-bpe", "a  !", "a| | !"},
		{"llama-bpe", "\n\na", "\n\n|a"},
		{"qwen2", "12345", "1|2|3|4|5"},
		{"qwen2", "कि", "क|ि"},
		{"qwen35", "कि", "कि"},
		{"qwen35", "\u0301a", "\u0301a"},
		{"qwen35", " \u0301", " \u0301"},
		{"qwen35", "a\n", "a|\n"},
	} {
		var got []string
		for text := tc.text; text != ""; {
			n := rules[tc.pre].next(text)
			got, text = append(got, text[:n]), text[n:]
		}
		if s := strings.Join(got, "|"); s != tc.want {
			t.Errorf("%s: %q splits into %q, want %q", tc.pre, tc.text, s, tc.want)
		}
	}
}

// TestSplitAdvances feeds every pair of runes that start another class: a pre-token is never empty and never cuts a rune.
func TestSplitAdvances(t *testing.T) {
	runes := []rune{'a', 'é', '1', '²', ' ', '\t', '\n', '\r', '\u00a0', '\u0301', '\'', 's', 'S', 'ſ', '.', '中', '😀', utf8.RuneError, 0}
	for pre, r := range rules {
		for _, a := range runes {
			for _, b := range runes {
				for _, c := range runes {
					text := string([]rune{a, b, c})
					n := r.next(text)
					if n <= 0 || n > len(text) || !utf8.ValidString(text[:n]) {
						t.Fatalf("%s: first pre-token of %q has %d bytes", pre, text, n)
					}
				}
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	marks := strings.Repeat("\u0301\u0323", 40)
	sorted := strings.Repeat("\u0323", 39) + strings.Repeat("\u0301", 40)
	for _, tc := range []struct{ name, text, want string }{
		{"ascii", "plain", "plain"},
		{"composes", "e\u0301", "é"},
		{"singleton", "\u212b", "Å"},
		{"long run keeps its marks", "e" + marks, "ẹ" + sorted},
		{"long run, Hangul and Latin", "\u1100\u1161\u11a8 각 e\u0301 " + marks, "각 각 é " + strings.Repeat("\u0323", 40) + strings.Repeat("\u0301", 40)},
		{"blocked mark", "a" + strings.Repeat("\u0301", 35) + "\u0300", "á" + strings.Repeat("\u0301", 34) + "\u0300"},
	} {
		if got := normalise(tc.text); got != tc.want {
			t.Errorf("%s: %+q, want %+q", tc.name, got, tc.want)
		}
	}
}

// TestComposition compares our composition with the library's on every rune of the planes that have composites: alone,
// between marks and after a letter.
func TestComposition(t *testing.T) {
	for r := rune(0); r < 0x30000; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		c := string(r)
		for _, text := range []string{c, "a" + c + "\u0301", "\u0327" + c + "\u0323", "\u1100" + c + "\u11a8", c + "\u0338", "\u0b47" + c} {
			if norm.NFC.IsNormalString(text) && norm.NFD.IsNormalString(text) {
				continue
			}
			if got, want := compose(decompose(text)), norm.NFC.String(text); got != want {
				t.Fatalf("%+q composes to %+q, want %+q", text, got, want)
			}
		}
	}
}

func TestPairTable(t *testing.T) {
	table := newPairTable(1000)
	for i := range int32(1000) {
		table.add(i, 7*i, uint32(i), i+1)
		table.add(i, 7*i, uint32(i)+9, i+2) // the first counts
	}
	for i := range int32(1000) {
		if rank, id := table.rank("", 0, 0, 0, i, 7*i); rank != uint32(i) || id != i+1 {
			t.Fatalf("pair %d has rank %d and makes %d", i, rank, id)
		}
	}
	for _, miss := range [][2]int32{{-1, -1}, {-1, 0}, {1, 8}} {
		if rank, _ := table.rank("", 0, 0, 0, miss[0], miss[1]); rank != noRank {
			t.Errorf("pair %d has rank %d", miss, rank)
		}
	}
}

// TestMerge compares the heap with the plain definition, on words long enough to use it.
func TestMerge(t *testing.T) {
	tok := newTokenizer(t, readBundle[bundle](t, "nano").vocab())
	merge := tok.model.(*bpe).merge
	for _, word := range []string{
		strings.Repeat("a", 100), strings.Repeat("ab", 60), strings.Repeat("theother", 20), strings.Repeat(" ", 77),
		strings.Repeat("中文", 30), strings.Repeat("=-", 50) + strings.Repeat("lowestnewest", 9),
	} {
		var want []int32
		for i := range len(word) {
			want = append(want, tok.byByte[word[i]])
		}
		for {
			best, at, join := uint32(noRank), 0, int32(0)
			for i := range len(want) - 1 {
				if rank, id := merge.rank("", 0, 0, 0, want[i], want[i+1]); rank < best {
					best, at, join = rank, i, id
				}
			}
			if best == noRank {
				break
			}
			want[at] = join
			want = slices.Delete(want, at+1, at+2)
		}
		if got := tok.model.(*bpe).merged(nil, word); !slices.Equal(got, want) {
			t.Errorf("%q: %d, want %d", word, got, want)
		}
	}
}
