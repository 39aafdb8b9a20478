// RMSNorm and L2Norm of groups: out[i] = x[i] · inv · (weight[i]).
//
// RMSNorm: inv = 1 / sqrt(Σx²/SIZE + EPS); L2Norm: inv = GAIN / sqrt(Σx² + EPS).
// With ADD the sum x + other is normalised and also written to total.
//
// Bindings: now; x f32 [n·GROUPS, SIZE] read; y the same shape, write; weight f32 [SIZE] read, where WEIGHT; other
// read and total write, both the shape of x, where ADD.
// Grid: flat → group. Preconditions: THREADS is a power of two.
// Source: arXiv 1910.07467. Test: gpu/optest "rms norm", "l2 norm"; TestFusedEqualsPlain.

var<workgroup> sums: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let g = flat(group, groups);
  if (g >= now.n * GROUPS) { return; }
  let at = g * SIZE;
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
    y[at + i] = result(load(at + i) * inv, i);
  }
}
