// Weight format Q4_1: 32 weights of one row a block.
//
// w = d·q + m, q in 0…15.
// Bindings: w0 vec4<u32> [blocks] nibbles as in q4_0; w1 u32 [blocks] d and m as two f16; both read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q4_1; repacked by Layout.Pack. Test: gpu/optest, "linear Q4_1" and "embed Q4_1".

struct Packed { q: vec4<u32>, s: f32, m: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let dm = unpack2x16float(w1[i]);
  return Packed(w0[i], dm.x, dm.y);
}

fn quad0(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.x)), vec4<f32>(p.m)); }
fn quad1(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.y)), vec4<f32>(p.m)); }
fn quad2(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.z)), vec4<f32>(p.m)); }
fn quad3(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(low(p.q.w)), vec4<f32>(p.m)); }
fn quad4(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.x)), vec4<f32>(p.m)); }
fn quad5(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.y)), vec4<f32>(p.m)); }
fn quad6(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.z)), vec4<f32>(p.m)); }
fn quad7(p: Packed) -> vec4<f32> { return fma(vec4<f32>(p.s), exact(high(p.q.w)), vec4<f32>(p.m)); }
