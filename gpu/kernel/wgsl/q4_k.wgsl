// Weight format Q4_K: decodes block i, 32 weights of one row, to float32.
//
// w = d·sc·q − dmin·mn, q in 0…15; d and dmin per 256 weights, sc and mn in 0…63.
// Bindings: w0 vec4<u32> [blocks] nibbles as in q4_0; w1 u16 [blocks] sc and mn, a byte each; w2 u32 [blocks/8] d and dmin as two f16; all read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: ggml-common.h, block_q4_K; repacked by Layout.Pack. Test: gpu/optest, "linear q4_K" and "embed q4_K".

fn low(w: u32) -> vec4<f32> {
  return vec4<f32>(f32(w & 15u), f32((w >> 8u) & 15u), f32((w >> 16u) & 15u), f32((w >> 24u) & 15u));
}

fn high(w: u32) -> vec4<f32> {
  return vec4<f32>(f32((w >> 4u) & 15u), f32((w >> 12u) & 15u), f32((w >> 20u) & 15u), f32(w >> 28u));
}

// super_block is the number of the super-block of 256 weights that block i is in.
fn super_block(i: u32) -> u32 {
  let tile = i / (32u * BLOCKS);
  let block = (i / 32u) % BLOCKS;
  return (tile * (BLOCKS / 8u) + block / 8u) * 32u + (i & 31u);
}

fn decode(i: u32) -> Weights {
  let q = w0[i];
  let sm = w1[i >> 1u] >> ((i & 1u) * 16u);
  let d = unpack2x16float(w2[super_block(i)]);
  let s = d.x * f32(sm & 255u);
  let m = -(d.y * f32((sm >> 8u) & 255u));
  return Weights(
    fma(vec4<f32>(s), low(q.x), vec4<f32>(m)),
    fma(vec4<f32>(s), low(q.y), vec4<f32>(m)),
    fma(vec4<f32>(s), low(q.z), vec4<f32>(m)),
    fma(vec4<f32>(s), low(q.w), vec4<f32>(m)),
    fma(vec4<f32>(s), high(q.x), vec4<f32>(m)),
    fma(vec4<f32>(s), high(q.y), vec4<f32>(m)),
    fma(vec4<f32>(s), high(q.z), vec4<f32>(m)),
    fma(vec4<f32>(s), high(q.w), vec4<f32>(m)),
  );
}
