// Top: sorts 1,024 candidates and keeps the first KEEP: larger logit first, the lower id first among equals.
//
// It runs in rounds until one workgroup is left. The first round (FIRST) reads the logits of the last column, later ones
// the candidates of the round before.
//
// Bindings: now; logits f32 [n, COUNT] read where FIRST, else from vec2<u32> [COUNT] (id, logit bits) read; y vec2<u32>
// [groups·KEEP] write.
// Grid: x → 1,024 candidates. Source: Batcher's bitonic sort. Test: gpu/exec TestTop.

var<workgroup> ids: array<u32, 1024>;
var<workgroup> values: array<f32, 1024>;

// before reports whether candidate i belongs in front of candidate j.
fn before(i: u32, j: u32) -> bool {
  return values[i] > values[j] || (values[i] == values[j] && ids[i] < ids[j]);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) id: u32) {
  for (var i = id; i < 1024u; i += 256u) {
    let at = group.x * 1024u + i;
    ids[i] = 0xffffffffu;
    values[i] = -3.4e38;
    if (at < COUNT) { take(at, i); }
  }
  workgroupBarrier();
  for (var size = 2u; size <= 1024u; size *= 2u) {
    for (var gap = size / 2u; gap > 0u; gap /= 2u) {
      for (var p = id; p < 512u; p += 256u) {
        let i = 2u * p - (p % gap);
        let j = i + gap;
        let swap = select(before(i, j), before(j, i), (i / size) % 2u == 0u);
        if (swap) {
          let v = values[i];
          values[i] = values[j];
          values[j] = v;
          let n = ids[i];
          ids[i] = ids[j];
          ids[j] = n;
        }
      }
      workgroupBarrier();
    }
  }
  for (var i = id; i < KEEP; i += 256u) {
    y[group.x * KEEP + i] = vec2<u32>(ids[i], bitcast<u32>(values[i]));
  }
}
