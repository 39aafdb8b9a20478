package workspace

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many unchanged lines stand around a change.
const diffContext = 3

// maxEdits bounds the work of a diff: files that differ in more lines are shown as wholly replaced.
const maxEdits = 1000

// Diff returns the unified difference of two texts, without file names; it is empty when they are equal.
//
// Source: Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986).
func Diff(before, after string) string {
	if before == after {
		return ""
	}
	a, b := splitLines(before), splitLines(after)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	ops := myers(a[start:len(a)-end], b[start:len(b)-end])
	all := make([]op, 0, start+len(ops)+end)
	for _, l := range a[:start] {
		all = append(all, op{' ', l})
	}
	all = append(all, ops...)
	for _, l := range a[len(a)-end:] {
		all = append(all, op{' ', l})
	}
	return hunks(all)
}

// op is one line of a diff: kept ' ', removed '-' or added '+'.
type op struct {
	kind byte
	line string
}

func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// myers finds a shortest list of lines to remove and to add.
func myers(a, b []string) []op {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+2) // furthest x on diagonal k, at k+limit
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[limit-d:limit+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[limit+k-1] < v[limit+k+1]:
				x = v[limit+k+1]
			default:
				x = v[limit+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[limit+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(a, b, trace, d, k)
			}
		}
	}
	var ops []op
	for _, l := range a {
		ops = append(ops, op{'-', l})
	}
	for _, l := range b {
		ops = append(ops, op{'+', l})
	}
	return ops
}

// backtrack walks from the end back along the furthest points. trace[d] holds diagonals -d to d before round d.
func backtrack(a, b []string, trace [][]int, d, k int) []op {
	x, y := len(a), len(b)
	var back []op
	for ; d > 0; d-- {
		v := trace[d]
		at := func(k int) int { return v[k+d] }
		down := k == -d || k != d && at(k-1) < at(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		px := at(from)
		py := px - from
		for x > px && y > py {
			x, y = x-1, y-1
			back = append(back, op{' ', a[x]})
		}
		if down {
			y--
			back = append(back, op{'+', b[y]})
		} else {
			x--
			back = append(back, op{'-', a[x]})
		}
		k = from
	}
	for x > 0 {
		x--
		back = append(back, op{' ', a[x]})
	}
	slices.Reverse(back)
	return back
}

// hunks writes the changes with the lines around them.
func hunks(ops []op) string {
	var s strings.Builder
	lineA, lineB := 1, 1
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i, lineA, lineB = i+1, lineA+1, lineB+1
			continue
		}
		from := max(0, i-diffContext)
		to, last := i, i
		for to < len(ops) && to-last <= 2*diffContext {
			if ops[to].kind != ' ' {
				last = to
			}
			to++
		}
		to = min(len(ops), last+1+diffContext)
		startA, startB := lineA-(i-from), lineB-(i-from)
		var countA, countB int
		var body strings.Builder
		for _, o := range ops[from:to] {
			body.WriteByte(o.kind)
			body.WriteString(o.line)
			if !strings.HasSuffix(o.line, "\n") {
				body.WriteString("\n\\ No newline at end of file\n")
			}
			if o.kind != '+' {
				countA++
			}
			if o.kind != '-' {
				countB++
			}
		}
		if countA == 0 {
			startA--
		}
		if countB == 0 {
			startB--
		}
		fmt.Fprintf(&s, "@@ -%d,%d +%d,%d @@\n%s", startA, countA, startB, countB, body.String())
		for _, o := range ops[i:to] {
			if o.kind != '+' {
				lineA++
			}
			if o.kind != '-' {
				lineB++
			}
		}
		i = to
	}
	return s.String()
}
