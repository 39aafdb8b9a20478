// Combine: y[t, i] = Σ_k weight k of t · x[t, k, i], in the order of the route.
//
// Bindings: now; x f32 [n, USED·WIDTH] read; route f32 [n, 2·USED] read; y f32 [n, WIDTH] write.
// Grid: flat·256 + thread → element of y. Source: core/model, Combine. Test: gpu/optest "expert linear of parts".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  let t = o / WIDTH;
  if (t >= now.n) { return; }
  var sum = 0.0;
  for (var k = 0u; k < USED; k++) {
    sum = fma(route[t * 2u * USED + USED + k], x[(t * USED + k) * WIDTH + o % WIDTH], sum);
  }
  y[o] = sum;
}
