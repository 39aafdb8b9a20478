// Weight format Q4_0: 32 weights of one row a block.
//
// w = d·(q − 8), q in 0…15.
// Bindings: w0 vec4<u32> [blocks] nibbles: byte j holds weights j (low) and j + 16 (high); w1 f16 [blocks] d; both read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q4_0; repacked by Layout.Pack. Test: gpu/optest, "linear Q4_0" and "embed Q4_0".

struct Packed { q: vec4<u32>, s: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  return Packed(w0[i], half_of(w1[i >> 1u], i));
}

// A nibble becomes a number without a conversion, and mostly without a shift: at bit p it is in the mantissa of
// 2^(23−p) + q. Taking 2^(23−p) + 8 away and scaling is one fma; d has 11 bits and 2^(23−p) + 8 has 21 − p, so that for p
// of 8 and more every product is exact, and so is w.
fn scaled(v: vec4<u32>, s: f32, offset: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(s), bitcast<vec4<f32>>(v), offset * s);
}

fn lows(w: u32, s: f32) -> vec4<f32> {
  let v = (vec4<u32>(w << 8u, w, w, w >> 12u) & vec4<u32>(0xf00u, 0xf00u, 0xf0000u, 0xf000u))
    | vec4<u32>(0x47000000u, 0x47000000u, 0x43000000u, 0x45000000u);
  return scaled(v, s, vec4<f32>(-32776.0, -32776.0, -136.0, -2056.0));
}

fn highs(w: u32, s: f32) -> vec4<f32> {
  let v = (vec4<u32>(w << 8u, w, w >> 12u, w >> 12u) & vec4<u32>(0xf000u, 0xf000u, 0xf00u, 0xf0000u))
    | vec4<u32>(0x45000000u, 0x45000000u, 0x47000000u, 0x43000000u);
  return scaled(v, s, vec4<f32>(-2056.0, -2056.0, -32776.0, -136.0));
}

fn quad0(p: Packed) -> vec4<f32> { return lows(p.q.x, p.s); }
fn quad1(p: Packed) -> vec4<f32> { return lows(p.q.y, p.s); }
fn quad2(p: Packed) -> vec4<f32> { return lows(p.q.z, p.s); }
fn quad3(p: Packed) -> vec4<f32> { return lows(p.q.w, p.s); }
fn quad4(p: Packed) -> vec4<f32> { return highs(p.q.x, p.s); }
fn quad5(p: Packed) -> vec4<f32> { return highs(p.q.y, p.s); }
fn quad6(p: Packed) -> vec4<f32> { return highs(p.q.z, p.s); }
fn quad7(p: Packed) -> vec4<f32> { return highs(p.q.w, p.s); }
