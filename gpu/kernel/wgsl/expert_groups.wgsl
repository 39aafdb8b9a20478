// Brings the pairs of each expert together and cuts them into tiles of TILE, for matmul_experts.wgsl.
//
// Bindings: now; route f32 [n, 2·USED] read; pairs u32 [n·USED] write; tiles vec4<u32> [n·USED/TILE + EXPERTS] write: expert, first
// place in pairs, how many pairs; those that are not needed have none.
// Grid: one workgroup. Which place a pair has among those of its expert is left to chance, and nothing depends on it.
// Source: a counting sort. Test: gpu/optest "expert linear".

var<workgroup> counts: array<atomic<u32>, EXPERTS>;

fn expert(p: u32) -> u32 { return u32(route[(p / USED) * 2u * USED + p % USED]); }

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) id: u32) {
  let n = now.n * USED;
  for (var e = id; e < EXPERTS; e += 256u) { atomicStore(&counts[e], 0u); }
  workgroupBarrier();
  for (var p = id; p < n; p += 256u) { atomicAdd(&counts[expert(p)], 1u); }
  workgroupBarrier();
  if (id == 0u) {
    var place = 0u;
    var tile = 0u;
    for (var e = 0u; e < EXPERTS; e++) {
      let count = atomicLoad(&counts[e]);
      for (var at = 0u; at < count; at += TILE) {
        tiles[tile] = vec4<u32>(e, place + at, min(TILE, count - at), 0u);
        tile++;
      }
      atomicStore(&counts[e], place);
      place += count;
    }
    let most = (n + TILE - 1u) / TILE + EXPERTS;
    for (; tile < most; tile++) { tiles[tile] = vec4<u32>(0u); }
  }
  workgroupBarrier();
  for (var p = id; p < n; p += 256u) { pairs[atomicAdd(&counts[expert(p)], 1u)] = p; }
}
