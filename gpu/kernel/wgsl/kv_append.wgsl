// Appends rows to a key or value cache, rounded to float16.
//
// Bindings: now; x f32 [n, HEADS·SIZE] read; cache u32 [context, HEADS, ceil(SIZE/2)] two float16 a word, write.
// Grid: flat·256 + thread → word of the rows pos … pos+n−1.
// Source: core/model, KVState. Test: gpu/optest "attention".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let o = flat(group, groups) * 256u + id;
  if (o >= now.n * HEADS * WORDS) { return; }
  let i = 2u * (o % WORDS);
  let at = (o / WORDS) * SIZE + i;
  var second = 0.0;
  if (i + 1u < SIZE) { second = x[at + 1u]; }
  cache[now.pos * HEADS * WORDS + o] = pack2x16float(vec2<f32>(x[at], second));
}
