// Weight format Q4_0: decodes block i, 32 weights of one row, to float32.
//
// w = d·(q − 8), q in 0…15.
// Bindings: w0 vec4<u32> [blocks] nibbles: byte j holds weights j (low) and j + 16 (high); w1 f16 [blocks] d; both read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: ggml-common.h, block_q4_0; repacked by Layout.Pack. Test: gpu/optest, "linear q4_0" and "embed q4_0".

fn low(w: u32) -> vec4<f32> {
  return vec4<f32>(f32(w & 15u), f32((w >> 8u) & 15u), f32((w >> 16u) & 15u), f32((w >> 24u) & 15u));
}

fn high(w: u32) -> vec4<f32> {
  return vec4<f32>(f32((w >> 4u) & 15u), f32((w >> 12u) & 15u), f32((w >> 20u) & 15u), f32(w >> 28u));
}

// half16 reads float16 number i of a plane.
fn half16(i: u32) -> f32 {
  let pair = unpack2x16float(w1[i >> 1u]);
  return select(pair.x, pair.y, (i & 1u) == 1u);
}

fn decode(i: u32) -> Weights {
  let q = w0[i];
  let s = half16(i);
  let m = -8.0 * s;
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
