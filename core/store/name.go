package store

import (
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/gguf"
)

// maxName leaves room for the suffixes of parts in the 255 bytes that file systems allow.
const maxName = 120

// checkName refuses what could not be a file name on every system, or would be hidden or outside the folder.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		return fmt.Errorf("%w: %q… has %d bytes, at most %d are allowed", ErrName, name[:20], len(name), maxName)
	case !letterOrDigit(name[0]) || name[len(name)-1] == '.':
		return fmt.Errorf("%w: %q must begin with a letter or digit and not end with a dot", ErrName, name)
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return fmt.Errorf("%w: %q; letters, digits and . _ + - are allowed", ErrName, name)
		}
	}
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return fmt.Errorf("%w: %q is reserved by Windows", ErrName, name)
	}
	if len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9' {
		return fmt.Errorf("%w: %q is reserved by Windows", ErrName, name)
	}
	if _, split := gguf.ParseSplitName(name + ".gguf"); split {
		return fmt.Errorf("%w: %q is one part of a split model", ErrName, name)
	}
	return nil
}

func letterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func nameByte(c byte) bool { return letterOrDigit(c) || strings.IndexByte("._+-", c) >= 0 }

// nameOf makes a model name of a file name, and says how many parts the model has.
func nameOf(file string) (name string, parts int, err error) {
	base, ok := strings.CutSuffix(file, ".gguf")
	if !ok {
		return "", 0, fmt.Errorf("%w: %q does not end in .gguf", ErrSource, file)
	}
	parts = 1
	if s, split := gguf.ParseSplitName(file); split {
		base, parts = s.Base, s.Count
	}
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && nameByte(byte(r)) {
			return r
		}
		return '-'
	}, base)
	name = strings.TrimLeft(name, "-._+")
	return name, parts, checkName(name)
}

// partFile is the file name of part no (from 1) of a model.
func partFile(name string, no, parts int) string {
	if parts == 1 {
		return name + ".gguf"
	}
	return gguf.SplitName{Base: name, No: no, Count: parts}.String()
}

// key is what names of one model share on file systems that ignore case.
func key(name string) string { return strings.ToLower(name) }
