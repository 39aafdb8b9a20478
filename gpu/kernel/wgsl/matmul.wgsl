// Linear for many columns: y[t, r] = Σ_k W[r, k]·x[t, k] (+ bias[r]) (+ residual[t, r]).
//
// A workgroup computes 128 rows × 64 columns from tiles in workgroup memory, decoded once; a thread 8 × 4 of them.
// Blocks are taken in the order of matvec.wgsl: those of lane 0 first, then those of lane 1, …; sum is a lane's chain of
// fma and total the sum of the lanes. So the bits are those of matvec.wgsl.
//
// Bindings: now; x vec4<f32> [n, 8·BLOCKS] read; y f32 [n, WIDTH] write (columns FIRST … FIRST+COUNT−1 of each row);
// the planes of the weight format, read; bias f32 [WIDTH] and residual f32 [n, WIDTH], read, where BIAS and RESIDUAL.
// Grid: (x, y) → rows 128·flat …, z → columns 64·z ….
// Preconditions: rows of W are padded to a multiple of 32; 24 KiB of workgroup memory.
// Source: tiling as in every GEMM text; the order is ours. Test: gpu/optest "linear"; gpu/exec TestMatmulEqualsMatvec.

var<workgroup> tw: array<vec4<f32>, 1024>; // [32 k][128 rows / 4]
var<workgroup> tx: array<vec4<f32>, 512>;  // [32 k][64 columns / 4]

fn put(k: u32, slot: u32, part: u32, v: vec4<f32>) {
  tw[k * 32u + slot][part] = v.x;
  tw[k * 32u + 32u + slot][part] = v.y;
  tw[k * 32u + 64u + slot][part] = v.z;
  tw[k * 32u + 96u + slot][part] = v.w;
}

fn store(t: u32, r: u32, v: vec4<f32>) {
  if (t < now.n) {
    if (r < COUNT) { y[t * WIDTH + FIRST + r] = finish(v.x, t, FIRST + r); }
    if (r + 1u < COUNT) { y[t * WIDTH + FIRST + r + 1u] = finish(v.y, t, FIRST + r + 1u); }
    if (r + 2u < COUNT) { y[t * WIDTH + FIRST + r + 2u] = finish(v.z, t, FIRST + r + 2u); }
    if (r + 3u < COUNT) { y[t * WIDTH + FIRST + r + 3u] = finish(v.w, t, FIRST + r + 3u); }
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let r0 = flat(group, groups) * 128u;
  let t0 = group.z * 64u;
  let rn = id % 16u; // rows 4·rn … and 64 + 4·rn …
  let tm = id / 16u; // columns 4·tm …
  let row = r0 + id; // the row that threads 0…127 decode
  let spot = place(row);
  var sum0$c = vec4<f32>(0.0);
  var sum1$c = vec4<f32>(0.0);
  var total0$c = vec4<f32>(0.0);
  var total1$c = vec4<f32>(0.0);
  for (var lane = 0u; lane < min(LANES, BLOCKS); lane++) {
    for (var b = lane; b < BLOCKS; b += LANES) {
      if (id < 128u) {
        if (row < PADDED) {
          let w = decode(spot, b);
          let slot = id / 4u;
          let part = id % 4u;
          put(0u, slot, part, w.a);
          put(4u, slot, part, w.b);
          put(8u, slot, part, w.c);
          put(12u, slot, part, w.d);
          put(16u, slot, part, w.e);
          put(20u, slot, part, w.f);
          put(24u, slot, part, w.g);
          put(28u, slot, part, w.h);
        }
      } else {
        // Eight threads read 128 bytes of a column; slots are turned by k/4, so that their stores meet no bank twice.
        let i = id % 8u;
        for (var column = (id - 128u) / 8u; column < 64u; column += 16u) {
          let v = x[min(t0 + column, now.n - 1u) * BLOCKS * 8u + b * 8u + i];
          let at = 64u * i + ((column / 4u) ^ i);
          tx[at][column % 4u] = v.x;
          tx[at + 16u][column % 4u] = v.y;
          tx[at + 32u][column % 4u] = v.z;
          tx[at + 48u][column % 4u] = v.w;
        }
      }
      workgroupBarrier();
      for (var k = 0u; k < 32u; k++) {
        let wa = tw[k * 32u + rn];
        let wb = tw[k * 32u + 16u + rn];
        let v = tx[k * 16u + (tm ^ (k / 4u))];
        sum0$c = fma(wa, vec4<f32>(v[$c]), sum0$c);
        sum1$c = fma(wb, vec4<f32>(v[$c]), sum1$c);
      }
      workgroupBarrier();
    }
    total0$c += sum0$c;
    total1$c += sum1$c;
    sum0$c = vec4<f32>(0.0);
    sum1$c = vec4<f32>(0.0);
  }
  store(t0 + tm * 4u + $cu, r0 + 4u * rn, total0$c);
  store(t0 + tm * 4u + $cu, r0 + 64u + 4u * rn, total1$c);
}
