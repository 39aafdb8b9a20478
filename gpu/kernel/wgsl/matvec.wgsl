// Linear for few columns: y[t, r] = Σ_k W[r, k]·x[t, k] (+ bias[r]) (+ residual[t, r]).
//
// A workgroup computes ROWS rows for COLUMNS columns; a weight is read and decoded once for all of them. Lane l of a row
// sums its blocks l, l + LANES, … as one chain of fma, and the lanes are then summed in order. matmul.wgsl sums in the
// same order, so a column has the same bits in either, whatever stands beside it.
//
// Bindings: now; x vec4<f32> [n, 8·BLOCKS] read; y f32 [n, WIDTH] write (columns FIRST … FIRST+COUNT−1 of each row);
// the planes of the weight format, read; bias f32 [WIDTH] and residual f32 [n, WIDTH], read, where BIAS and RESIDUAL.
// Grid: (x, y) → rows ROWS·flat …, z → columns COLUMNS·z ….
// Preconditions: 256 threads = ROWS·LANES; ROWS divides 32; rows of W are padded to a multiple of 32.
// A line with $c stands once for every column c, one with $u once for every block of an iteration.
// Source: the lane order is ours. Test: gpu/optest "linear"; TestMatmulEqualsMatvec.

var<workgroup> sums: array<f32, SUMS>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let lane = id / ROWS;
  let first = flat(group, groups) * ROWS;
  let row = first + id % ROWS;
  let column = group.z * COLUMNS;
  let last = now.n - 1u;
  if (row < PADDED) {
    let base = (row / 32u) * BLOCKS * 32u + row % 32u;
    let at$c = min(column + $cu, last) * BLOCKS * 8u;
    var sum$c = 0.0;
    var b = lane;
    for (; b + (UNROLL - 1u) * LANES < BLOCKS; b += UNROLL * LANES) { // several blocks are under way at once
      let w$u = decode(base + (b + $uu * LANES) * 32u);
      sum$c = chain(w$u, at$c + (b + $uu * LANES) * 8u, sum$c);
    }
    for (; b < BLOCKS; b += LANES) {
      let w = decode(base + b * 32u);
      sum$c = chain(w, at$c + b * 8u, sum$c);
    }
    sums[$cu * 256u + id] = sum$c;
  }
  workgroupBarrier();
  for (var o = id; o < COLUMNS * ROWS; o += 256u) {
    let r = first + o % ROWS;
    let t = column + o / ROWS;
    if (r < COUNT && t < now.n) {
      var total = 0.0;
      for (var l = 0u; l < LANES; l++) {
        total += sums[(o / ROWS) * 256u + l * ROWS + o % ROWS];
      }
      y[t * WIDTH + FIRST + r] = finish(total, t, FIRST + r);
    }
  }
}
