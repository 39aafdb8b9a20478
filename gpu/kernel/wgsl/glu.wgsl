// A gated linear unit from the rows of both matrices: y[t, r] = SiLU(x[t, 64·(r/32) + r mod 32]) · x[t, … + 32].
//
// Bindings: now; x f32 [n, 2·WIDTH] read; y f32 [n, WIDTH] write.
// Grid: flat·256 + thread → element of y. Source: arXiv 2002.05202. Test: gpu/optest "linear glu".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  if (o >= now.n * WIDTH) { return; }
  let r = o % WIDTH;
  let at = (o / WIDTH) * 2u * WIDTH + (r / 32u) * 64u + r % 32u;
  y[o] = apply(x[at], x[at + 32u]);
}
