package tokenizer

import "unicode/utf8"

// The byte alphabet of GPT-2 spells every byte as a printable rune, so that a vocabulary is valid text: a printable
// Latin-1 byte is the rune of the same number, the other 68 are U+0100 onwards in order ("Ġ", U+0120, is a space).
//
// Source: openai/gpt-2, src/encoder.py, bytes_to_unicode.
const alphabetEnd = 0x100 + 68

// alphabet gives the byte of a rune; -1 when the rune is not in the alphabet.
var alphabet = func() (table [alphabetEnd]int16) {
	for i := range table {
		table[i] = -1
	}
	next := 0x100
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			table[b] = int16(b)
		} else {
			table[next] = int16(b)
			next++
		}
	}
	return table
}()

// appendAlphabet appends the bytes that s spells. A rune outside the alphabet stands for itself, and ok is false.
func appendAlphabet(dst []byte, s string) (out []byte, ok bool) {
	ok = true
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r < alphabetEnd && alphabet[r] >= 0 {
			dst = append(dst, byte(alphabet[r]))
		} else {
			dst = append(dst, s[i:i+n]...)
			ok = false
		}
		i += n
	}
	return dst, ok
}

// byteToken parses a byte token of SentencePiece, such as "<0x0A>".
func byteToken(s string) (byte, bool) {
	if len(s) != 6 || s[:3] != "<0x" || s[5] != '>' {
		return 0, false
	}
	hi, ok1 := hexDigit(s[3])
	lo, ok2 := hexDigit(s[4])
	return hi<<4 | lo, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
