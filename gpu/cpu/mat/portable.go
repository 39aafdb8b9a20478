package mat

import "math"

// task is one call of a kernel: a run of panels times one group of columns.
type task struct {
	m       *Matrix
	panel   int       // the first panel
	panels  int       // how many
	w       int       // columns of the group
	acts    []uint32  // the group
	y       []float32 // output of row 0 of the first panel, column 0
	stride  int       // from one output column to the next
	scratch *scratch
}

// mulGo is the portable kernel of quantised matrices. y has room for 16 rows of
// every panel.
func mulGo(t *task) {
	m, f := t.m, &t.m.format
	var acc [maxWidth][panelRows]float32
	var q pairs
	var scales [panelRows]scale
	for i := range t.panels {
		panel := m.panel(t.panel + i)
		record := t.acts
		clear(acc[:])
		for b := range m.cols / blockCols {
			f.unpack(&q, f.quantsOf(panel, b))
			for r := range scales {
				scales[r] = f.scale(panel, b, r)
			}
			for c := range t.w {
				x := (*[blockCols]int8)(bytesOf(record[8*c : 8*c+8]))
				num := func(i int) uint32 { return record[(8+i)*t.w+c] }
				dx, sum := math.Float32frombits(num(numScale)), math.Float32frombits(num(numSum))
				if f.halves {
					low, high := dots(q[:128], x[:16], int32(num(numLow))*4), dots(q[128:], x[16:], int32(num(numHigh))*4)
					h := f.headerOf(panel, b)
					sub := h[32+b%8*32:]
					for r := range acc[c] {
						dot := low[r]*int32(int8(sub[r])) + high[r]*int32(int8(sub[16+r]))
						acc[c][r] = fma(half(h[2*r:])*dx, float32(dot), acc[c][r])
					}
					continue
				}
				dot := dots(q[:], x[:], int32(num(numAll))*int32(f.offset/8))
				for r := range acc[c] {
					acc[c][r] = fma(scales[r].d[0]*dx, float32(dot[r]), acc[c][r])
					if f.min {
						acc[c][r] = fma(scales[r].m, sum, acc[c][r])
					}
				}
			}
			record = record[blockWords*t.w:]
		}
		for c := range t.w {
			copy(t.y[c*t.stride+i*panelRows:][:panelRows], acc[c][:])
		}
	}
}

// dots returns, for 16 rows, init plus the dot product of their quants with x.
// A sum of two rows in one word carries from the low one into the high one,
// which is undone at the end.
func dots(q []uint64, x []int8, init int32) (sums [panelRows]int32) {
	var s0, s1, s2, s3, s4, s5, s6, s7 int64
	for k, v := range x {
		w, v := (*[8]uint64)(q[8*k:]), int64(v)
		s0 += int64(w[0]) * v
		s1 += int64(w[1]) * v
		s2 += int64(w[2]) * v
		s3 += int64(w[3]) * v
		s4 += int64(w[4]) * v
		s5 += int64(w[5]) * v
		s6 += int64(w[6]) * v
		s7 += int64(w[7]) * v
	}
	for p, s := range [8]int64{s0, s1, s2, s3, s4, s5, s6, s7} {
		low := int32(s)
		sums[2*p] = init + low
		sums[2*p+1] = init + int32((s-int64(low))>>32)
	}
	return sums
}
