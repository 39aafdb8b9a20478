// Slice: values [OFFSET, OFFSET+LENGTH) of each of GROUPS groups of SIZE values of a row, joined; beyond them, up to
// WIDTH, zeros, and so beyond a group where LENGTH is greater than SIZE, which pads groups.
//
// Bindings: now; x f32 [n, GROUPS·SIZE] read; y f32 [n, WIDTH] write.
// Grid: flat·256 + thread → element of y. Source: core/model, Slice. Test: gpu/optest "slice", "linear odd columns".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  let t = o / WIDTH;
  let i = o % WIDTH;
  if (t >= now.n) { return; }
  var v = 0.0;
  if (i < GROUPS * LENGTH && OFFSET + i % LENGTH < SIZE) { v = x[t * GROUPS * SIZE + (i / LENGTH) * SIZE + OFFSET + i % LENGTH]; }
  y[o] = v;
}
