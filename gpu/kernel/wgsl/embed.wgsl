// Embed: out[t, i] = SCALE · W[token t, i].
//
// Bindings: now; tokens u32 [n] read; y f32 [n, WIDTH] write; the planes of the weight format, read.
// Grid: flat·64 + thread → block of 32 values, of column index / BLOCKS.
// Preconditions: this part of the table holds rows FIRST … FIRST+COUNT−1; other tokens are left to other parts.
// Source: core/model, Embed. Test: gpu/optest "embed".

fn put(t: u32, i: u32, v: vec4<f32>) {
  let at = t * WIDTH + i;
  if (i < WIDTH) { y[at] = SCALE * v.x; }
  if (i + 1u < WIDTH) { y[at + 1u] = SCALE * v.y; }
  if (i + 2u < WIDTH) { y[at + 2u] = SCALE * v.z; }
  if (i + 3u < WIDTH) { y[at + 3u] = SCALE * v.w; }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let i = flat(group, groups) * 64u + id;
  let t = i / BLOCKS;
  let b = i % BLOCKS;
  if (t >= now.n) { return; }
  let token = tokens[t];
  if (token < FIRST || token - FIRST >= COUNT) { return; }
  let row = token - FIRST;
  let w = decode(place(row), b);
  let at = b * 32u;
  put(t, at, w.a);
  put(t, at + 4u, w.b);
  put(t, at + 8u, w.c);
  put(t, at + 12u, w.d);
  put(t, at + 16u, w.e);
  put(t, at + 20u, w.f);
  put(t, at + 24u, w.g);
  put(t, at + 28u, w.h);
}
