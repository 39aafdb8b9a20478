// Concat: the rows of a, FIRST wide, before those of b, SECOND wide.
//
// Bindings: now; a f32 [n, FIRST] and b f32 [n, SECOND] read; y f32 [n, FIRST + SECOND] write.
// Grid: flat·256 + thread → element of y. Source: core/model, Concat. Test: gpu/optest "concat".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  let t = o / (FIRST + SECOND);
  let i = o % (FIRST + SECOND);
  if (t >= now.n) { return; }
  if (i < FIRST) { y[o] = a[t * FIRST + i]; } else { y[o] = b[t * SECOND + i - FIRST]; }
}
