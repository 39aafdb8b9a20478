// RMSNorm and L2Norm of groups: out[i] = x[i] · inv · (weight[i]).
//
// RMSNorm: inv = 1 / sqrt(Σx²/SIZE + EPS); L2Norm: inv = GAIN / sqrt(Σx² + EPS).
// What stands before or after it can be fused: a group may be a slice of a wider row (STRIDE, OFFSET, GSTRIDE); a sum x +
// other, which is also written to total; norm_gate.wgsl and norm_rope.wgsl for what follows, else norm_plain.wgsl.
//
// Bindings: now; x f32 [n, STRIDE] read; y f32 [n, GROUPS, SIZE] write; weight f32 [SIZE] read; other read and total
// write, both the shape of x; gate f32, the shape of y, or turns, as in rope.wgsl, read; all but x and y where they apply.
// Grid: flat → group. Preconditions: THREADS is a power of two.
// Source: arXiv 1910.07467. Test: gpu/optest "rms norm", "l2 norm"; gpu/exec TestFusedEqualsPlain.

var<workgroup> sums: array<f32, THREADS>;

// value is element i of the normalised group that begins at.
fn value(at: u32, i: u32, inv: f32) -> f32 { return weighted(load(at + i) * inv, i); }

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let g = flat(group, groups);
  if (g >= now.n * GROUPS) { return; }
  let at = (g / GROUPS) * STRIDE + OFFSET + (g % GROUPS) * GSTRIDE;
  var sum = 0.0;
  for (var i = id; i < SIZE; i += THREADS) {
    let v = load(at + i);
    sum = fma(v, v, sum);
  }
  sums[id] = sum;
  workgroupBarrier();
  for (var gap = THREADS / 2u; gap > 0u; gap /= 2u) {
    if (id < gap) { sums[id] += sums[id + gap]; }
    workgroupBarrier();
  }
  let inv = GAIN / sqrt(fma(sums[0], MEAN, EPS));
  for (var i = id; i < SIZE; i += THREADS) {
    y[g * SIZE + i] = finish(at, i, inv, g);
  }
}
