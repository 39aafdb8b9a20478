// The inner product of a block, shared by matvec.wgsl and matvec_glu.wgsl. x vec4<f32> is theirs.

// chain adds the 32 products of a block to sum, one after the other.
fn chain(w: Weights, at: u32, sum: f32) -> f32 {
  var s = sum;
  var v = x[at];
  s = fma(w.a.w, v.w, fma(w.a.z, v.z, fma(w.a.y, v.y, fma(w.a.x, v.x, s))));
  v = x[at + 1u];
  s = fma(w.b.w, v.w, fma(w.b.z, v.z, fma(w.b.y, v.y, fma(w.b.x, v.x, s))));
  v = x[at + 2u];
  s = fma(w.c.w, v.w, fma(w.c.z, v.z, fma(w.c.y, v.y, fma(w.c.x, v.x, s))));
  v = x[at + 3u];
  s = fma(w.d.w, v.w, fma(w.d.z, v.z, fma(w.d.y, v.y, fma(w.d.x, v.x, s))));
  v = x[at + 4u];
  s = fma(w.e.w, v.w, fma(w.e.z, v.z, fma(w.e.y, v.y, fma(w.e.x, v.x, s))));
  v = x[at + 5u];
  s = fma(w.f.w, v.w, fma(w.f.z, v.z, fma(w.f.y, v.y, fma(w.f.x, v.x, s))));
  v = x[at + 6u];
  s = fma(w.g.w, v.w, fma(w.g.z, v.z, fma(w.g.y, v.y, fma(w.g.x, v.x, s))));
  v = x[at + 7u];
  return fma(w.h.w, v.w, fma(w.h.z, v.z, fma(w.h.y, v.y, fma(w.h.x, v.x, s))));
}
