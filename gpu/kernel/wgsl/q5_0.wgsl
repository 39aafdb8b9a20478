// Weight format Q5_0: 32 weights of one row a block.
//
// w = d·(q − 16), q in 0…31.
// Bindings: w0 vec4<u32> [blocks] low four bits as in q4_0; w1 u32 [blocks] fifth bits, bit j of weight j; w2 f16 [blocks] d; all read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q5_0; repacked by Layout.Pack. Test: gpu/optest, "linear Q5_0" and "embed Q5_0".

struct Packed { q: vec4<u32>, h: u32, s: f32, m: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let d = half_of(w2[i >> 1u], i);
  return Packed(w0[i], w1[i], d, -16.0 * d);
}

// fifth returns 16 for every set bit of four of h, from bit 4·k.
fn fifth(h: u32, k: u32) -> vec4<u32> { return ((vec4<u32>(h >> (4u * k)) << vec4<u32>(4u, 3u, 2u, 1u)) & vec4<u32>(16u)); }

fn quad0(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.x) | fifth(p.h, 0u)), vec4<f32>(p.m)); }
fn quad1(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.y) | fifth(p.h, 1u)), vec4<f32>(p.m)); }
fn quad2(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.z) | fifth(p.h, 2u)), vec4<f32>(p.m)); }
fn quad3(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.w) | fifth(p.h, 3u)), vec4<f32>(p.m)); }
fn quad4(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.x) | fifth(p.h, 4u)), vec4<f32>(p.m)); }
fn quad5(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.y) | fifth(p.h, 5u)), vec4<f32>(p.m)); }
fn quad6(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.z) | fifth(p.h, 6u)), vec4<f32>(p.m)); }
fn quad7(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.w) | fifth(p.h, 7u)), vec4<f32>(p.m)); }
