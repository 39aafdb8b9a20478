// ExpertLinear for many columns: y[p, r] = Σ_k W[expert of p, r, k]·x[p, k], where p is a pair of a token and an expert.
//
// A workgroup computes 128 rows × 16 pairs of one expert, a tile that expert_groups.wgsl made; a thread has 8 rows of one pair.
// Sums are in the order of matvec.wgsl, so that the bits are the same.
//
// Bindings: now; x vec4<f32> [n or n·USED, 8·BLOCKS] read; y f32 [n·USED, COUNT] write; the planes of the weight format, read;
// tiles vec4<u32> read: expert, first place in pairs, how many pairs; pairs u32 [n·USED] read.
// Grid: (x, y) → rows 128·flat …, z → tile.
// Preconditions: as matvec_experts.wgsl; 18 KiB of workgroup memory.
// Source: as matmul.wgsl. Test: gpu/optest "expert linear".

var<workgroup> tw: array<vec4<f32>, 1024>; // [32 k][128 rows / 4]
var<workgroup> tx: array<f32, 512>;        // [32 k][16 pairs]

fn put(k: u32, slot: u32, part: u32, v: vec4<f32>) {
  tw[k * 32u + slot][part] = v.x;
  tw[k * 32u + 32u + slot][part] = v.y;
  tw[k * 32u + 64u + slot][part] = v.z;
  tw[k * 32u + 96u + slot][part] = v.w;
}

fn store(p: u32, r: u32, v: vec4<f32>) {
  if (r < COUNT) { y[p * COUNT + r] = v.x; }
  if (r + 1u < COUNT) { y[p * COUNT + r + 1u] = v.y; }
  if (r + 2u < COUNT) { y[p * COUNT + r + 2u] = v.z; }
  if (r + 3u < COUNT) { y[p * COUNT + r + 3u] = v.w; }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let tile = tiles[group.z];
  let expert = tile.x - EXPERT;
  if (tile.z == 0u || expert >= EXPERTS) { return; }
  let r0 = flat(group, groups) * 128u;
  let rn = id % 16u; // rows 4·rn … and 64 + 4·rn …
  let tm = id / 16u; // the pair
  let row = r0 + id; // the row that threads 0…127 decode
  let spot = place(expert * PADDED + min(row, PADDED - 1u));
  // Threads 128…255 read a quarter of a block of a pair each.
  let reader = (id % 128u) / 8u;
  var source = pairs[tile.y + min(reader, tile.z - 1u)];
  if (SHARED) { source = source / USED; }
  var sum0 = vec4<f32>(0.0);
  var sum1 = vec4<f32>(0.0);
  var total0 = vec4<f32>(0.0);
  var total1 = vec4<f32>(0.0);
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
        let i = id % 8u;
        let v = x[source * BLOCKS * 8u + b * 8u + i];
        tx[64u * i + reader] = v.x;
        tx[64u * i + 16u + reader] = v.y;
        tx[64u * i + 32u + reader] = v.z;
        tx[64u * i + 48u + reader] = v.w;
      }
      workgroupBarrier();
      for (var k = 0u; k < 32u; k++) {
        let v = vec4<f32>(tx[k * 16u + tm]);
        sum0 = fma(tw[k * 32u + rn], v, sum0);
        sum1 = fma(tw[k * 32u + 16u + rn], v, sum1);
      }
      workgroupBarrier();
    }
    total0 += sum0;
    total1 += sum1;
    sum0 = vec4<f32>(0.0);
    sum1 = vec4<f32>(0.0);
  }
  if (tm < tile.z) {
    let p = pairs[tile.y + tm];
    store(p, r0 + 4u * rn, total0);
    store(p, r0 + 64u + 4u * rn, total1);
  }
}
