// Weight format Q6_K: decodes block i, 32 weights of one row, to float32.
//
// w = d·sc·(q − 32), q in 0…63; d per 256 weights, sc in −128…127 per 16.
// Bindings: w0 vec4<u32> [blocks] low four bits as in q4_0; w1 u16 [blocks] two sc, a byte each; w2 f16 [blocks/8] d; w3 vec2<u32> [blocks] high bits, two a weight, weight j at bit 2(j mod 16) of word j/16; all read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: ggml-common.h, block_q6_K; repacked by Layout.Pack. Test: gpu/optest, "linear q6_K" and "embed q6_K".

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

// half16 reads float16 number i of a plane.
fn half16(i: u32) -> f32 {
  let pair = unpack2x16float(w2[i >> 1u]);
  return select(pair.x, pair.y, (i & 1u) == 1u);
}

// top returns 16 times each of the four lowest pairs of bits of h.
fn top(h: u32) -> vec4<f32> {
  return vec4<f32>(f32((h & 3u) << 4u), f32((h & 12u) << 2u), f32(h & 48u), f32((h & 192u) >> 2u));
}

fn decode(i: u32) -> Weights {
  let q = w0[i];
  let h = w3[i];
  let sc = bitcast<i32>(w1[i >> 1u] >> ((i & 1u) * 16u));
  let d = half16(super_block(i));
  let s = d * f32((sc << 24u) >> 24u);
  let t = d * f32((sc << 16u) >> 24u);
  let m = vec4<f32>(-32.0 * s);
  let n = vec4<f32>(-32.0 * t);
  return Weights(
    fma(vec4<f32>(s), low(q.x) + top(h.x), m),
    fma(vec4<f32>(s), low(q.y) + top(h.x >> 8u), m),
    fma(vec4<f32>(s), low(q.z) + top(h.x >> 16u), m),
    fma(vec4<f32>(s), low(q.w) + top(h.x >> 24u), m),
    fma(vec4<f32>(t), high(q.x) + top(h.y), n),
    fma(vec4<f32>(t), high(q.y) + top(h.y >> 8u), n),
    fma(vec4<f32>(t), high(q.z) + top(h.y >> 16u), n),
    fma(vec4<f32>(t), high(q.w) + top(h.y >> 24u), n),
  );
}
