package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pooled/pooled/core/gguf"
)

// maxName leaves room for the suffixes of parts in the 255 bytes that file systems allow.
const maxName = 120

// checkName refuses what could not be a file name on every system, or would be hidden or outside the folder.
func checkName(name string) error {
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		return fmt.Errorf("%w: %q… has %d bytes, at most %d are allowed", ErrName, strings.ToValidUTF8(name[:20], ""), len(name), maxName)
	case !letterOrDigit(first) || strings.HasSuffix(name, "."):
		return fmt.Errorf("%w: %q must begin with a letter or digit and not end with a dot", ErrName, name)
	case strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }):
		return fmt.Errorf("%w: %q; letters, digits and . _ + - are allowed", ErrName, name)
	case reserved(name):
		return fmt.Errorf("%w: %q is reserved by Windows", ErrName, name)
	}
	if _, split := gguf.ParseSplitName(name + gguf.Extension); split {
		return fmt.Errorf("%w: %q is one part of a split model", ErrName, name)
	}
	return nil
}

// reserved reports whether Windows takes a name for a device, whatever follows a dot in it.
//
// Source: Microsoft, Naming Files, Paths, and Namespaces; the superscript digits are among them.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	for _, device := range []string{"com", "lpt"} {
		if no, ok := strings.CutPrefix(stem, device); ok && utf8.RuneCountInString(no) == 1 && strings.Contains("0123456789¹²³", no) {
			return true
		}
	}
	return false
}

// letterOrDigit reports whether a name may begin with a rune: a letter or digit of any script, or a picture.
func letterOrDigit(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r))
}

// nameRune reports whether a name may hold a rune: also marks, which belong to letters.
func nameRune(r rune) bool {
	return letterOrDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._+-", r)
}

// nameOf makes a model name of the name of a file whose content says that it is a model, and says how many parts it has.
func nameOf(file string) (name string, parts int, err error) {
	base, _ := gguf.TrimExtension(file)
	parts = 1
	if s, split := gguf.ParseSplitName(file); split {
		base, parts = s.Base, s.Count
	}
	name = strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '-'
	}, norm.NFC.String(base))
	name = strings.TrimLeftFunc(name, func(r rune) bool { return !letterOrDigit(r) })
	if name == "" {
		return "", 0, fmt.Errorf("%w: nothing in %q can be one; give the file a name with letters or digits", ErrName, file)
	}
	if err := checkName(name); err != nil {
		return "", 0, fmt.Errorf("%w; give the file another name", err)
	}
	return name, parts, nil
}

// partFile is the file name of part no (from 1) of a model.
func partFile(name string, no, parts int) string {
	if parts == 1 {
		return name + gguf.Extension
	}
	return gguf.SplitName{Base: name, No: no, Count: parts}.String()
}

// key is what names of one model share on file systems that ignore case, or how letters with marks are composed.
func key(name string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, norm.NFC.String(name)))
}
