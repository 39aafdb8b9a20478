package markdown

import "github.com/yuin/goldmark/util"

// unescape resolves backslash escapes and character references.
func unescape(v []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(v))))
}
