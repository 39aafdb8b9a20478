package export

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pooled/pooled/core/workspace"
	"golang.org/x/text/unicode/norm"
)

// maxFolders bounds how deep in folders a file of an archive lies.
const maxFolders = 64

// names gives files the names that they have in an archive: such as every system can make a file of, below the folder that
// it is unpacked in, and no two of them the same for a system that ignores case.
type names struct {
	given map[string]string // by path
	taken map[string]int    // by folded name: the number for the next one like it
}

func newNames() *names { return &names{given: map[string]string{".": "."}, taken: map[string]int{}} }

// of returns the name of the file or folder at a path.
func (n *names) of(file string) string {
	if name, ok := n.given[file]; ok {
		return name
	}
	dir, base := n.of(path.Dir(file)), clean(path.Base(file))
	first := path.Join(dir, base)
	name := first
	for n.taken[fold(name)] > 0 {
		n.taken[fold(first)]++
		ext := path.Ext(base)
		name = path.Join(dir, fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(base, ext), n.taken[fold(first)], ext))
	}
	n.given[file], n.taken[fold(name)] = name, 1
	return name
}

// fold returns what systems take for the same name.
func fold(name string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(name))) }

// clean makes a name fit for every system.
func clean(name string) string {
	if workspace.CheckName(name) == nil {
		return name
	}
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != '\u200d' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	const most = 200 // leaves room for a number
	if len(name) > most {
		ext := path.Ext(name)
		if len(ext) > most/2 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:most-len(ext)], "") + ext
	}
	if trimmed := strings.TrimRight(name, ". "); trimmed != name {
		name = trimmed + "_"
	}
	if workspace.CheckName(name) != nil {
		name = "_" + name
	}
	return name
}
