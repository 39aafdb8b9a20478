// Rope: turns the first DIMS values of each head by the angle of its position; the rest pass through.
//
// Pair i is (2i, 2i+1) where INTERLEAVED, else (i, i + DIMS/2). The angles' cosines and sines come from the host, which
// computes them in float64: a float32 angle is off by 0.06 rad at position 10⁶.
//
// Bindings: now; x f32 [n, HEADS·SIZE] read; y the same, write; turns vec2<f32> [n, DIMS/2] (cos, sin) read.
// Grid: flat·256 + thread → element of y. Source: arXiv 2104.09864. Test: gpu/optest "rope".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  if (o >= now.n * HEADS * SIZE) { return; }
  let i = o % SIZE;
  if (i >= DIMS) {
    y[o] = x[o];
    return;
  }
  var pair = i % (DIMS / 2u);
  var second = i >= DIMS / 2u;
  var mate = DIMS / 2u;
  if (INTERLEAVED) {
    pair = i / 2u;
    second = i % 2u == 1u;
    mate = 1u;
  }
  let turn = turns[(o / (HEADS * SIZE)) * (DIMS / 2u) + pair];
  if (second) {
    y[o] = fma(x[o - mate], turn.y, x[o] * turn.x);
  } else {
    y[o] = fma(-x[o + mate], turn.y, x[o] * turn.x);
  }
}
