// Merges the parts that attention.wgsl left with SPLIT, in the order of the segments.
//
// Bindings: now; parts f32 [segments, n·HEADS, VALUE + 2] read; y f32 [n, HEADS·VALUE] write.
// Grid: flat·256 + thread → pair of values of a row, [n·HEADS, VWORDS].
// Source: as attention.wgsl. Test: gpu/optest "attention".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  let row = o / VWORDS;
  let d = 2u * (o % VWORDS);
  if (row >= now.n * HEADS) { return; }
  var begin = 0u;
  if (WINDOW > 0u && now.pos >= WINDOW) { begin = (now.pos + 1u - WINDOW) / SEGMENT; }
  let segments = (now.total + SEGMENT - 1u) / SEGMENT - begin;
  var p = Part(-3.0e38, 0.0, vec2<f32>(0.0));
  for (var s = 0u; s < segments; s++) {
    let at = (s * now.n * HEADS + row) * (VALUE + 2u);
    var v = vec2<f32>(parts[at + 2u + d], 0.0);
    if (d + 1u < VALUE) { v.y = parts[at + 3u + d]; }
    p = merge(p, Part(parts[at], parts[at + 1u], v));
  }
  let v = p.values / p.sum;
  y[row * VALUE + d] = v.x;
  if (d + 1u < VALUE) { y[row * VALUE + d + 1u] = v.y; }
}
