// Embed: out[t, i] = SCALE · W[token t, i].
//
// Bindings: now; tokens u32 [n] read; y f32 [n, 32·BLOCKS] write; the planes of the weight format, read.
// Grid: flat·64 + thread → block of 32 values, of column index / BLOCKS.
// Preconditions: this part of the table holds rows FIRST … FIRST+COUNT−1; other tokens are left to other parts.
// Source: core/model, Embed. Test: gpu/optest "embed".

fn put(at: u32, v: vec4<f32>) {
  y[at] = SCALE * v.x;
  y[at + 1u] = SCALE * v.y;
  y[at + 2u] = SCALE * v.z;
  y[at + 3u] = SCALE * v.w;
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
  let w = decode(((row / 32u) * BLOCKS + b) * 32u + row % 32u);
  let at = t * BLOCKS * 32u + b * 32u;
  put(at, w.a);
  put(at + 4u, w.b);
  put(at + 8u, w.c);
  put(at + 12u, w.d);
  put(at + 16u, w.e);
  put(at + 20u, w.f);
  put(at + 24u, w.g);
  put(at + 28u, w.h);
}
