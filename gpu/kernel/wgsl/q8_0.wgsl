// Weight format Q8_0: 32 weights of one row a block.
//
// w = d·q, q in −128…127.
// Word k of block i (of 2 of four words) is number (i/32·2 + k)·32 + i mod 32, so that neighbours read neighbouring words.
// Bindings: w0 vec4<u32> [blocks, 2] bytes in order; w1 f16 [blocks] d; both read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: ggml-common.h, block_q8_0; repacked by Layout.Pack. Test: gpu/optest, "linear Q8_0" and "embed Q8_0".

struct Packed { a: vec4<u32>, b: vec4<u32>, s: f32 };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let at = (i >> 5u) * 64u + (i & 31u);
  return Packed(w0[at], w0[at + 32u], half_of(w1[i >> 1u], i));
}

// As in q4_0: a byte at bit 8 is in the mantissa of 2^15 + q + 128 once its sign is turned, and every product is exact.
fn bytes(w: u32, s: f32) -> vec4<f32> {
  let v = (vec4<u32>(w << 8u, w, w >> 8u, w >> 16u) & vec4<u32>(0xff00u)) ^ vec4<u32>(0x47008000u);
  return fma(vec4<f32>(s), bitcast<vec4<f32>>(v), vec4<f32>(-32896.0 * s));
}

fn quad0(p: Packed) -> vec4<f32> { return bytes(p.a.x, p.s); }
fn quad1(p: Packed) -> vec4<f32> { return bytes(p.a.y, p.s); }
fn quad2(p: Packed) -> vec4<f32> { return bytes(p.a.z, p.s); }
fn quad3(p: Packed) -> vec4<f32> { return bytes(p.a.w, p.s); }
fn quad4(p: Packed) -> vec4<f32> { return bytes(p.b.x, p.s); }
fn quad5(p: Packed) -> vec4<f32> { return bytes(p.b.y, p.s); }
fn quad6(p: Packed) -> vec4<f32> { return bytes(p.b.z, p.s); }
fn quad7(p: Packed) -> vec4<f32> { return bytes(p.b.w, p.s); }
