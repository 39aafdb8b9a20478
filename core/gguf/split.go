package gguf

import (
	"fmt"
	"strconv"
	"strings"
)

// SplitName is the file name of one part of a split model, such as "qwen-00002-of-00005.gguf".
type SplitName struct {
	Base      string // "qwen"
	No, Count int    // 2 and 5: No counts from 1, unlike split.no in the metadata
}

// String returns the file name.
func (s SplitName) String() string { return s.Base + splitSuffix(s.No, s.Count) }

// Beside returns the file name that the part has beside another one of the given name, which may end in .GGUF.
func (s SplitName) Beside(other string) string {
	return strings.TrimSuffix(s.String(), Extension) + other[max(0, len(other)-len(Extension)):]
}

// Extension is what names of files end in, in whatever case. It says nothing: a file is told by its content.
const Extension = ".gguf"

// TrimExtension takes the extension from a file name and reports whether it had one.
func TrimExtension(name string) (base string, ok bool) {
	if at := len(name) - len(Extension); at >= 0 && strings.EqualFold(name[at:], Extension) {
		return name[:at], true
	}
	return name, false
}

func splitSuffix(no, count int) string { return fmt.Sprintf("-%05d-of-%05d.gguf", no, count) }

// ReadSplit says which part of how many a file is, both from 1, by its content alone; the other parts need not be there.
//
// Errors: as of [Open].
func ReadSplit(path string) (no, count int, err error) {
	p, err := openPart(path)
	if err != nil {
		return 0, 0, err
	}
	return p.split.no + 1, p.split.count, p.src.Close()
}

// ParseSplitName takes a file name apart, whatever the case of its extension; false when it is not that of a part.
func ParseSplitName(name string) (SplitName, bool) {
	const tail = len("-00001-of-00001.gguf")
	if len(name) <= tail {
		return SplitName{}, false
	}
	whole, ok := TrimExtension(name)
	if !ok {
		return SplitName{}, false
	}
	base, suffix := name[:len(name)-tail], whole[len(name)-tail:]+Extension
	no, ok := fiveDigits(suffix[1:6])
	count, ok2 := fiveDigits(suffix[10:15])
	if !ok || !ok2 || suffix != splitSuffix(no, count) || no < 1 || no > count || strings.ContainsAny(base, `/\`) {
		return SplitName{}, false
	}
	return SplitName{Base: base, No: no, Count: count}, true
}

func fiveDigits(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil
}
