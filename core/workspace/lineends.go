package workspace

import (
	"sort"
	"strings"
)

// lines is a text whose line ends are "\n" only, and where they were others: "\r\n", in any mixture with "\n", or "\r" in a
// text without any "\n". A "\r" elsewhere is a byte like others.
type lines struct {
	text     string
	original string
	dropped  []int  // indices in text of the line ends that were "\r\n"
	ends     string // all line ends; empty for a mixture, and where there are none
}

// readLines takes a text apart.
func readLines(s string) lines {
	l := lines{text: s, original: s}
	switch {
	case !strings.Contains(s, "\r"):
		if strings.Contains(s, "\n") {
			l.ends = "\n"
		}
		return l
	case !strings.Contains(s, "\n"):
		l.text, l.ends = strings.ReplaceAll(s, "\r", "\n"), "\r"
		return l
	}
	var b strings.Builder
	b.Grow(len(s))
	for rest := s; ; {
		line, after, ok := strings.Cut(rest, "\r\n")
		b.WriteString(line)
		if !ok {
			break
		}
		l.dropped = append(l.dropped, b.Len())
		b.WriteByte('\n')
		rest = after
	}
	l.text = b.String()
	switch len(l.dropped) {
	case 0:
		l.ends = "\n"
	case strings.Count(l.text, "\n"):
		l.ends = "\r\n"
	}
	return l
}

// normal returns another text with "\n" for its line ends.
func (l *lines) normal(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if l.ends == "\r" {
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return s
}

// at returns where byte i of the text is in the original.
func (l *lines) at(i int) int { return i + sort.SearchInts(l.dropped, i) }

// adopt takes over the line ends of another text where l has none.
func (l *lines) adopt(s string) {
	if i := strings.IndexByte(s, '\n'); l.ends == "" && !strings.Contains(l.text, "\n") && i >= 0 {
		l.ends = "\n"
		if i > 0 && s[i-1] == '\r' {
			l.ends = "\r\n"
		}
	}
}

// most returns the most bytes that the original may have once count texts are replaced.
func (l *lines) most(count int, old, new string) int {
	more := len(new) - len(old)
	if l.ends != "\n" && l.ends != "\r" {
		more += strings.Count(new, "\n")
	}
	return len(l.original) + count*max(more, 0)
}

// rewrite writes a text anew with each of some occurrences of old replaced by new, from its start to its end.
type rewrite struct {
	*lines
	old  string
	new  string // with the line ends of the text, if those are all the same
	ops  []op   // else: what makes new of old, line by line
	out  strings.Builder
	done int // bytes of the text that are written, or left out
	next int // the first line end at or after the last one that was asked for; the last of all if there is none
	last bool
}

// rewrite begins to write the text anew.
func (l *lines) rewrite(old, new string) *rewrite {
	r := &rewrite{lines: l, old: old, new: new, next: -1}
	switch l.ends {
	case "":
		r.ops = myers(splitLines(old), splitLines(new))
	case "\n":
	default:
		r.new = strings.ReplaceAll(new, "\n", l.ends)
	}
	return r
}

// replace replaces the occurrence at byte i. In a mixture a line that stays keeps its line end, one that changes has that of
// the line in whose place it comes, and one that is added that of the place.
func (r *rewrite) replace(i int) {
	r.keep(i)
	if r.ops == nil {
		r.out.WriteString(r.new)
		r.done = i + len(r.old)
		return
	}
	var removed []string
	for _, o := range r.ops {
		body, ended := strings.CutSuffix(o.line, "\n")
		switch o.kind {
		case ' ':
			removed = nil
			r.keep(r.done + len(o.line))
		case '-':
			r.done += len(o.line)
			if ended {
				removed = append(removed, r.endAt(r.done-1))
			}
		default:
			r.out.WriteString(body)
			switch {
			case !ended:
			case len(removed) > 0:
				r.out.WriteString(removed[0])
				removed = removed[1:]
			default:
				r.out.WriteString(r.endsAt(r.done))
			}
		}
	}
}

// keep writes the original up to byte i of the text.
func (r *rewrite) keep(i int) {
	r.out.WriteString(r.original[r.at(r.done):r.at(i)])
	r.done = i
}

// endsAt returns the line end of a place: the first at or after it, else the last before it.
func (r *rewrite) endsAt(from int) string {
	if r.next < from && !r.last {
		i := strings.IndexByte(r.text[from:], '\n')
		if r.last = i < 0; r.last {
			r.next = strings.LastIndexByte(r.text, '\n')
		} else {
			r.next = from + i
		}
	}
	return r.endAt(r.next)
}

// endAt returns the line end at byte i of the text.
func (l *lines) endAt(i int) string {
	if at := sort.SearchInts(l.dropped, i); at < len(l.dropped) && l.dropped[at] == i {
		return "\r\n"
	}
	return "\n"
}

// result returns the whole text.
func (r *rewrite) result() string {
	r.keep(len(r.text))
	return r.out.String()
}

// replaceAt returns the original with the text old at byte i replaced.
func (l *lines) replaceAt(i int, old, new string) string {
	r := l.rewrite(old, new)
	r.replace(i)
	return r.result()
}

// replaceAll returns the original with each occurrence of the text old replaced.
func (l *lines) replaceAll(old, new string) string {
	r := l.rewrite(old, new)
	for from := 0; ; {
		i := strings.Index(l.text[from:], old)
		if i < 0 {
			return r.result()
		}
		r.replace(from + i)
		from += i + len(old)
	}
}
