// A gated linear unit for few columns: y[t, r] = SiLU(Σ_k G[r, k]·x[t, k]) · Σ_k U[r, k]·x[t, k].
//
// G and U are one matrix in memory, 32 rows of G and 32 of U in turn. The sums are those of matvec.wgsl and the rest is
// swiglu.wgsl, to the bit.
//
// Bindings: now; x vec4<f32> [n, 8·BLOCKS] read; y f32 [n, WIDTH] write (columns FIRST … FIRST+COUNT−1 of each row); the
// planes of the weight format, read.
// Grid: (x, y) → rows ROWS·flat …, z → columns COLUMNS·z ….
// Preconditions: as matvec.wgsl; the rows of G and of U are multiples of 32.
// A line with $c stands once for every column c.
// Source: arXiv 2002.05202. Test: gpu/optest "linear glu"; gpu/exec TestFusedEqualsPlain.

var<workgroup> sums: array<f32, SUMS>; // [2 matrices][columns][256 threads]

fn sum_of(at: u32) -> f32 {
  var total = 0.0;
  for (var l = 0u; l < LANES; l++) { total += sums[at + l * ROWS]; }
  return total;
}

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
  if (row < COUNT) {
    let gbase = (row / 32u) * 2u * BLOCKS * 32u + row % 32u;
    let ubase = gbase + BLOCKS * 32u;
    let at$c = min(column + $cu, last) * BLOCKS * 8u;
    var gsum$c = 0.0;
    var usum$c = 0.0;
    for (var b = lane; b < BLOCKS; b += LANES) {
      let g = decode(gbase + b * 32u);
      gsum$c = chain(g, at$c + b * 8u, gsum$c);
      let u = decode(ubase + b * 32u);
      usum$c = chain(u, at$c + b * 8u, usum$c);
    }
    sums[$cu * 256u + id] = gsum$c;
    sums[(COLUMNS + $cu) * 256u + id] = usum$c;
  }
  workgroupBarrier();
  for (var o = id; o < COLUMNS * ROWS; o += 256u) {
    let r = first + o % ROWS;
    let t = column + o / ROWS;
    if (r < COUNT && t < now.n) {
      let at = (o / ROWS) * 256u + o % ROWS;
      y[t * WIDTH + FIRST + r] = apply(sum_of(at), sum_of(COLUMNS * 256u + at));
    }
  }
}
