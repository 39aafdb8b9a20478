// Weight format Q6_K: 32 weights of one row a block.
//
// w = d·sc·(q − 32), q in 0…63; d per 256 weights, sc in −128…127 per 16.
// Bindings: w0 vec4<u32> [blocks] low four bits as in q4_0; w1 u16 [blocks] two sc, a byte each; w2 f16 [blocks/8] d; w3 vec2<u32> [blocks] high bits, two a weight, weight j at bit 2(j mod 16) of word j/16; all read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q6_K; repacked by Layout.Pack. Test: gpu/optest, "linear Q6_K" and "embed Q6_K".

struct Packed { q: vec4<u32>, h: vec2<u32>, s: f32, t: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let sc = bitcast<i32>(w1[i >> 1u] >> ((i & 1u) * 16u));
  let at = super_block(spot, b);
  let d = half_of(w2[at >> 1u], at);
  return Packed(w0[i], w3[i], d * f32((sc << 24u) >> 24u), d * f32((sc << 16u) >> 24u));
}

// top returns 16 times each of four pairs of bits of h, from bit 8·k.
fn top(h: u32, k: u32) -> vec4<u32> { return (vec4<u32>(h >> (8u * k)) << vec4<u32>(4u, 2u, 0u, 0u) >> vec4<u32>(0u, 0u, 0u, 2u)) & vec4<u32>(48u); }

fn quad0(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.x) | top(p.h.x, 0u)), vec4<f32>(-32.0 * p.s)); }
fn quad1(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.y) | top(p.h.x, 1u)), vec4<f32>(-32.0 * p.s)); }
fn quad2(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.z) | top(p.h.x, 2u)), vec4<f32>(-32.0 * p.s)); }
fn quad3(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.w) | top(p.h.x, 3u)), vec4<f32>(-32.0 * p.s)); }
fn quad4(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.t), exact(high(p.q.x) | top(p.h.y, 0u)), vec4<f32>(-32.0 * p.t)); }
fn quad5(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.t), exact(high(p.q.y) | top(p.h.y, 1u)), vec4<f32>(-32.0 * p.t)); }
fn quad6(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.t), exact(high(p.q.z) | top(p.h.y, 2u)), vec4<f32>(-32.0 * p.t)); }
fn quad7(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.t), exact(high(p.q.w) | top(p.h.y, 3u)), vec4<f32>(-32.0 * p.t)); }
