// Package kernel holds the operations as WGSL: one file an operation, one a weight format, and the Go that sizes them.
//
// A kernel's text is its bindings and constants, written here as a short prelude, then files of the folder wgsl. What is
// known when a model loads is a constant; only the number of columns and the position change from pass to pass, in the
// uniform Step. What a thread keeps in registers is written out: a line with $c in a file stands once for every column (or
// row), one with $r once for every row, and the lines between $each and $end once for every $k of 0 … 7.
// The reference of every operation is in gpu/ref, the table they are tested over in gpu/optest.
package kernel

import (
	"embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pooled/pooled/gpu/device"
)

//go:embed wgsl/*.wgsl
var files embed.FS

// Kernel is a kernel's text and the way it sees its bindings, of which the first is always the [Step].
type Kernel struct {
	// Name says what it is, for messages; two kernels of the same Code are the same.
	Name string
	Code string
	// Bindings are in the order of the constructor's documentation.
	Bindings []device.Access
}

// Step is the uniform that changes from pass to pass.
type Step struct{ Columns, Pos int }

// StepBytes is the size of a Step in device memory.
const StepBytes = 16

// Append writes s as the device reads it.
func (s Step) Append(b []byte) []byte {
	for _, v := range []int{s.Columns, s.Pos, s.Pos + s.Columns, 0} {
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return b
}

// Grid spreads groups workgroups over two dimensions, since one holds at most 65,535; z is the third.
func Grid(groups, z int) [3]uint32 {
	const most = 32768
	if groups <= most {
		return [3]uint32{uint32(max(groups, 1)), 1, uint32(max(z, 1))}
	}
	return [3]uint32{most, uint32((groups + most - 1) / most), uint32(max(z, 1))}
}

// text assembles a kernel.
type text struct {
	kernel Kernel
	head   strings.Builder
	body   strings.Builder
}

func begin(name string) *text {
	t := &text{kernel: Kernel{Name: name}}
	t.bind("now", "Step", device.UniformRead)
	return t
}

func (t *text) bind(name, typ string, a device.Access) {
	space := map[device.Access]string{
		device.UniformRead: "uniform", device.Read: "storage, read", device.ReadWrite: "storage, read_write",
	}[a]
	fmt.Fprintf(&t.head, "@group(0) @binding(%d) var<%s> %s: %s;\n", len(t.kernel.Bindings), space, name, typ)
	t.kernel.Bindings = append(t.kernel.Bindings, a)
}

func (t *text) read(name, typ string)  { t.bind(name, "array<"+typ+">", device.Read) }
func (t *text) write(name, typ string) { t.bind(name, "array<"+typ+">", device.ReadWrite) }

func (t *text) int(name string, v int)   { fmt.Fprintf(&t.head, "const %s = %du;\n", name, v) }
func (t *text) bool(name string, v bool) { fmt.Fprintf(&t.head, "const %s = %v;\n", name, v) }
func (t *text) float(name string, v float64) {
	fmt.Fprintf(&t.head, "const %s = %s;\n", name, Float(v))
}
func (t *text) fn(line string) { t.body.WriteString(line + "\n") }

// Float writes v as a WGSL literal of type f32.
func Float(v float64) string {
	v = min(max(v, -math.MaxFloat32), math.MaxFloat32)
	if math.Abs(v) < 1.1754943508222875e-38 { // WGSL may refuse subnormal literals
		v = 0
	}
	s := strconv.FormatFloat(float64(float32(v)), 'e', -1, 32)
	return s + "f"
}

// file appends a file with its repetitions written out; see the package's comment.
func (t *text) file(name string, repeats ...repeat) {
	b, err := files.ReadFile("wgsl/" + name + ".wgsl")
	if err != nil {
		panic("kernel: " + err.Error()) // a name in this package is wrong
	}
	var each []string // the lines between $each and $end
	inside := false
	for _, line := range strings.SplitAfter(string(b), "\n") {
		code, _, _ := strings.Cut(line, "//")
		switch code = strings.TrimSpace(code); {
		case code == "":
		case code == "$each":
			each, inside = nil, true
		case code == "$end":
			for k := range 8 {
				for _, l := range each {
					t.body.WriteString(strings.ReplaceAll(l, "$k", strconv.Itoa(k)))
				}
			}
			inside = false
		case inside:
			each = append(each, expand(line, code, repeats)...)
		default:
			for _, l := range expand(line, code, repeats) {
				t.body.WriteString(l)
			}
		}
	}
}

// repeat says that a line whose code holds mark stands n times, with mark replaced by the number.
type repeat struct {
	mark string
	n    int
}

// expand writes the repetitions of a line out, the first mark in the outermost loop.
func expand(line, code string, repeats []repeat) []string {
	lines := []string{line}
	for _, r := range repeats {
		if !strings.Contains(code, r.mark) {
			continue
		}
		var more []string
		for _, l := range lines {
			for i := range r.n {
				more = append(more, strings.ReplaceAll(l, r.mark, strconv.Itoa(i)))
			}
		}
		lines = more
	}
	return lines
}

func (t *text) end() Kernel {
	step, _ := files.ReadFile("wgsl/step.wgsl")
	t.kernel.Code = string(step) + t.head.String() + t.body.String()
	return t.kernel
}
