// Weight format F32: 32 weights of one row a block.
//
// w is the number itself.
// Word k of block i (of 8 of four words) is number (i/32·8 + k)·32 + i mod 32, so that neighbours read neighbouring words.
// Bindings: w0 vec4<u32> [blocks, 8], read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: the file's own numbers; repacked by Layout.Pack. Test: gpu/optest, "linear F32" and "embed F32".

struct Packed {
  a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32>,
  e: vec4<u32>, f: vec4<u32>, g: vec4<u32>, h: vec4<u32>,
};

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let at = (i >> 5u) * 256u + (i & 31u);
  return Packed(
    w0[at], w0[at + 32u], w0[at + 64u], w0[at + 96u],
    w0[at + 128u], w0[at + 160u], w0[at + 192u], w0[at + 224u],
  );
}

fn quad0(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.a); }
fn quad1(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.b); }
fn quad2(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.c); }
fn quad3(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.d); }
fn quad4(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.e); }
fn quad5(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.f); }
fn quad6(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.g); }
fn quad7(p: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(p.h); }
