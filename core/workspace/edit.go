package workspace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bom may stand before the text of a file.
const bom = "\uFEFF"

// replace returns content with old replaced by new, once or everywhere, and how often.
//
// Line ends do not matter in the search: old may have others than the file. What is kept of old keeps its line ends, and what
// is new gets those of the place. The last line of old may have a line end that the file lacks there. When old does not
// occur, it is looked for without regard to space at the end of lines, and replaced only where that is one place. A mark of
// the byte order that new has and old has not is left out.
//
// Errors: [*EditError], [*PathError] with [ErrTooLarge].
func replace(name, content, old, new string, all bool) (string, int, error) {
	fail := func(count int, format string, args ...any) (string, int, error) {
		return "", 0, &EditError{Path: name, Count: count, Help: fmt.Sprintf(format, args...)}
	}
	whole := func(help string) (string, int, error) {
		return "", 0, &EditError{Path: name, Help: help, Whole: true}
	}
	if !strings.Contains(old, bom) {
		new = strings.TrimPrefix(new, bom)
	} else if !strings.HasPrefix(content, bom) {
		old, new = strings.TrimPrefix(old, bom), strings.TrimPrefix(new, bom)
	}
	f := readLines(content)
	o, n := f.normal(old), f.normal(new)
	switch {
	case old == "":
		return whole("old is empty; give the text to replace, or write the whole file")
	case old == new:
		return fail(0, "old and new are the same; nothing to change")
	case o == n:
		return fail(0, "old and new are the same but for their line ends, and the file keeps its own; nothing to change")
	}
	f.adopt(new)
	count := strings.Count(f.text, o)
	if most := f.most(max(count, 1), o, n); most > MaxFile && (all || count < 2) {
		return "", 0, &PathError{Path: name, Err: ErrTooLarge, Hint: fmt.Sprintf("it would have %d bytes; the limit is %d", most, MaxFile)}
	}
	switch {
	case count == 1 || count > 1 && all:
		return f.replaceAll(o, n), count, nil
	case count > 1:
		return fail(count, "the old text is there %d times (lines %s); add lines around it so that it is there once, or set all to true",
			count, places(f.text, o))
	}
	if short, ok := strings.CutSuffix(o, "\n"); ok && short != "" && strings.HasSuffix(f.text, short) {
		n = strings.TrimSuffix(n, "\n")
		if n == short {
			return fail(0, "old and new are the same but for the line end that the file lacks at its end; nothing to change")
		}
		return f.replaceAt(len(f.text)-len(short), short, n), 1, nil
	}
	loose := loosen(f.text)
	pattern := loosen(o).text
	if strings.TrimSpace(pattern) != "" {
		switch count = strings.Count(loose.text, pattern); {
		case count == 1:
			from, to := loose.original(strings.Index(loose.text, pattern), len(pattern), f.text)
			if f.text[from:to] == n {
				return fail(0, "the new text is what is there; nothing to change")
			}
			return f.replaceAt(from, f.text[from:to], n), 1, nil
		case count > 1:
			return fail(count, "the old text is there %d times (lines %s), but for space at the ends of lines; copy it exactly, with lines around it",
				count, places(loose.text, pattern))
		}
	}
	help := "the old text is not in the file"
	switch at := strings.Index(f.text, n); {
	case strings.TrimSpace(content) == "":
		return whole(help + ", which is empty; write the whole file")
	case len(strings.TrimSpace(n)) > 3 && at >= 0:
		help += fmt.Sprintf("; the new text is there already (line %d)", lineAt(f.text, at))
	}
	first, lines := closest(f.text, o)
	if len(lines) == 0 {
		return fail(0, "%s; read the file and copy the text exactly", help)
	}
	return fail(0, "%s. Closest, from line %d:\n%s\nCopy the text to replace exactly", help, first, strings.Join(lines, "\n"))
}

// places lists the lines where text occurs, at most five.
func places(content, text string) string {
	var lines []string
	from := 0
	for {
		i := strings.Index(content[from:], text)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		if len(lines) == 5 {
			return strings.Join(lines, ", ") + ", …"
		}
		lines = append(lines, strconv.Itoa(lineAt(content, from+i)))
		from += i + len(text)
	}
}

// lineAt returns the number of the line that holds byte i.
func lineAt(content string, i int) int { return strings.Count(content[:i], "\n") + 1 }

// loosened is a text without space at the end of lines.
type loosened struct {
	text string
	at   []int // index in the original of each byte
}

func loosen(s string) loosened {
	l := loosened{at: make([]int, 0, len(s))}
	var b strings.Builder
	b.Grow(len(s))
	from := 0
	for line := range strings.Lines(s) {
		body, ended := strings.CutSuffix(line, "\n")
		body = strings.TrimRight(body, " \t\r")
		for i := range len(body) {
			l.at = append(l.at, from+i)
		}
		b.WriteString(body)
		if ended {
			l.at = append(l.at, from+len(line)-1)
			b.WriteByte('\n')
		}
		from += len(line)
	}
	l.text = b.String()
	return l
}

// original returns where n bytes at i of the loose text are in the original. At the end of a line the space that was left
// out belongs to it.
func (l loosened) original(i, n int, content string) (from, to int) {
	from, to = l.at[i], l.at[i+n-1]+1
	if l.text[i+n-1] == '\n' {
		return from, to
	}
	end := to
	for end < len(content) && (content[end] == ' ' || content[end] == '\t') {
		end++
	}
	if end == len(content) || content[end] == '\n' {
		to = end
	}
	return from, to
}

// Limits of the search for near misses.
const (
	closestLines = 20_000
	closestShown = 8
	closestWidth = 200
)

// closest returns the lines of content that are most like old, and the number of the first.
func closest(content, old string) (first int, lines []string) {
	all := strings.SplitN(content, "\n", closestLines+1)
	all = all[:min(len(all), closestLines)]
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	want = want[:min(len(want), 200)]

	// Lines that are the same, but for space around them, vote for where old would begin.
	where := map[string][]int{}
	for i, l := range all {
		if l = strings.TrimSpace(l); len(l) > 2 && len(where[l]) < 50 {
			where[l] = append(where[l], i)
		}
	}
	votes := map[int]int{}
	for j, l := range want {
		for _, i := range where[strings.TrimSpace(l)] {
			votes[i-j] += len(l)
		}
	}
	start, best := 0, 0
	for s, v := range votes {
		if v > best || v == best && s < start {
			start, best = s, v
		}
	}
	if best == 0 {
		// None is: the line most like the longest one.
		j := 0
		for i, l := range want {
			if len(strings.TrimSpace(l)) > len(strings.TrimSpace(want[j])) {
				j = i
			}
		}
		pattern, like := pairs(want[j]), 0.4
		for i, l := range all {
			if v := similar(pattern, pairs(l)); v > like {
				start, like, best = i-j, v, 1
			}
		}
	}
	if best == 0 {
		return 0, nil
	}
	start = max(start, 0)
	end := min(len(all), start+min(len(want), closestShown))
	lines = slices.Clone(all[start:end])
	for i, l := range lines {
		l = strings.TrimRight(strings.ToValidUTF8(l, "\uFFFD"), "\r")
		if len(l) > closestWidth {
			cut := closestWidth
			for cut > 0 && !utf8.RuneStart(l[cut]) {
				cut--
			}
			l = l[:cut] + "…"
		}
		lines[i] = l
	}
	return start + 1, lines
}

// pairs counts the pairs of neighbouring bytes of a line without space around it.
func pairs(line string) map[[2]byte]int {
	line = strings.TrimSpace(line)
	line = line[:min(len(line), closestWidth)]
	m := make(map[[2]byte]int, len(line))
	for i := 1; i < len(line); i++ {
		m[[2]byte{line[i-1], line[i]}]++
	}
	return m
}

// similar returns how alike two lines are, from 0 to 1.
//
// Source: Dice, Measures of the Amount of Ecologic Association Between Species, Ecology 26 (1945).
func similar(a, b map[[2]byte]int) float64 {
	shared, total := 0, 0
	for p, n := range a {
		shared += min(n, b[p])
		total += n
	}
	for _, n := range b {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(total)
}
