// An operation of two inputs by element: y[i] = apply(a[i], b[i]).
//
// Bindings: now; a and b f32 [n, WIDTH] read; y f32 [n, WIDTH] write.
// Grid: flat·256 + thread → element. Source: core/model. Test: gpu/optest, by the operation's name.

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let i = flat(group, groups) * 256u + id;
  if (i < now.n * WIDTH) { y[i] = apply(a[i], b[i]); }
}
