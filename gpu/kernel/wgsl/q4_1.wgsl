// Weight format Q4_1: decodes block i, 32 weights of one row, to float32.
//
// w = d·q + m, q in 0…15.
// Bindings: w0 vec4<u32> [blocks] nibbles as in q4_0; w1 u32 [blocks] d and m as two f16; both read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: ggml-common.h, block_q4_1; repacked by Layout.Pack. Test: gpu/optest, "linear q4_1" and "embed q4_1".

fn low(w: u32) -> vec4<f32> {
  return vec4<f32>(f32(w & 15u), f32((w >> 8u) & 15u), f32((w >> 16u) & 15u), f32((w >> 24u) & 15u));
}

fn high(w: u32) -> vec4<f32> {
  return vec4<f32>(f32((w >> 4u) & 15u), f32((w >> 12u) & 15u), f32((w >> 20u) & 15u), f32(w >> 28u));
}

fn decode(i: u32) -> Weights {
  let q = w0[i];
  let dm = unpack2x16float(w1[i]);
  let s = dm.x;
  let m = dm.y;
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
