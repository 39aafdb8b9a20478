// Linear for few columns: y[t, r] = Σ_k W[r, k]·x[t, k] (+ bias[r]) (+ residual[t, r]).
//
// ACROSS threads stand side by side, each with ROWS rows, for COLUMNS columns: a weight is read and decoded once for all
// columns, a number of x read once for all rows. There are LANES such lines of threads. Lane l of a row sums its blocks
// l, l + LANES, … as one chain of fma, and the lanes are then summed in order. matmul.wgsl sums in the same order, so a
// column has the same bits in either, whatever stands beside it and whatever ROWS and ACROSS are. The next block is
// fetched before this one is used, since a memory takes long to answer.
//
// Which rows a thread has, which row of x a column reads and what becomes of the sums is in matvec_rows.wgsl, matvec_glu.wgsl or
// matvec_experts.wgsl.
//
// Bindings: now; x vec4<f32> [n, 8·BLOCKS] read; y f32 [n, WIDTH] write (columns FIRST … FIRST+COUNT−1 of each row);
// the planes of the weight format, read; bias f32 [WIDTH] and residual f32 [n, WIDTH], read, where BIAS and RESIDUAL.
// Grid: (x, y) → rows flat·GROUP …, z → columns COLUMNS·z ….
// Preconditions: THREADS = ACROSS·LANES; ACROSS divides 32; rows of W are padded to a multiple of 32.
// A line with $c stands once for every column, one with $r once for every row; what is between $each and $end once for
// every k of 0 … 7.
// Source: the lane order is ours. Test: gpu/optest "linear"; gpu/exec TestMatmulEqualsMatvec.

var<workgroup> sums: array<f32, SUMS>; // [ROWS][COLUMNS][LANES][ACROSS]

// lanes returns the sum of the lanes of row r of line a, for column c.
fn lanes(r: u32, c: u32, a: u32) -> f32 {
  var total = 0.0;
  for (var l = 0u; l < LANES; l++) { total += sums[(r * COLUMNS + c) * THREADS + l * ACROSS + a]; }
  return total;
}

fn chain(w: vec4<f32>, v: vec4<f32>, sum: f32) -> f32 {
  return fma(w.w, v.w, fma(w.z, v.z, fma(w.y, v.y, fma(w.x, v.x, sum))));
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let across = id % ACROSS;
  let lane = id / ACROSS;
  let first = flat(group, groups) * GROUP;
  let column = group.z * COLUMNS;
  let at$c = input(column + $cu) * BLOCKS * 8u;
  let spot$r = spot(first, across, $ru, column);
  var sum$r_$c = 0.0;
  var next$r = fetch(spot$r, min(lane, BLOCKS - 1u));
  for (var b = lane; b < BLOCKS; b += LANES) {
    let packed$r = next$r;
    next$r = fetch(spot$r, min(b + LANES, BLOCKS - 1u));
    $each
    let v$k_$c = x[at$c + b * 8u + $ku];
    let w$k_$r = quad$k(packed$r);
    sum$r_$c = chain(w$k_$r, v$k_$c, sum$r_$c);
    $end
  }
  sums[($ru * COLUMNS + $cu) * THREADS + id] = sum$r_$c;
  workgroupBarrier();
  leave(first, column, id);
}
