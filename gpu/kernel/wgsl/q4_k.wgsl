// Weight format Q4_K: 32 weights of one row a block.
//
// w = d·sc·q − dmin·mn, q in 0…15; d and dmin per 256 weights, sc and mn in 0…63.
// Bindings: w0 vec4<u32> [blocks] nibbles as in q4_0; w1 u16 [blocks] sc and mn, a byte each; w2 u32 [blocks/8] d and dmin as two f16; all read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q4_K; repacked by Layout.Pack. Test: gpu/optest, "linear Q4_K" and "embed Q4_K".

struct Packed { q: vec4<u32>, s: f32, m: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let sm = w1[i >> 1u] >> ((i & 1u) * 16u);
  let d = unpack2x16float(w2[super_block(spot, b)]);
  return Packed(w0[i], d.x * f32(sm & 255u), -(d.y * f32((sm >> 8u) & 255u)));
}

fn quad0(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.x)), vec4<f32>(p.m)); }
fn quad1(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.y)), vec4<f32>(p.m)); }
fn quad2(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.z)), vec4<f32>(p.m)); }
fn quad3(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.w)), vec4<f32>(p.m)); }
fn quad4(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.x)), vec4<f32>(p.m)); }
fn quad5(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.y)), vec4<f32>(p.m)); }
fn quad6(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.z)), vec4<f32>(p.m)); }
fn quad7(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.w)), vec4<f32>(p.m)); }
