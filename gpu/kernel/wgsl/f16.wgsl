// Weight format F16: 32 weights of one row a block.
//
// w is the number itself.
// Word k of block i (of 4 of four words) is number (i/32·4 + k)·32 + i mod 32, so that neighbours read neighbouring words.
// Bindings: w0 vec4<u32> [blocks, 4], read.
// Block b of row r of a matrix [rows, 32·BLOCKS] is number (tile·BLOCKS + b)·32 + r mod 32, where tile = r/32.
// Source: the file's own numbers; repacked by Layout.Pack. Test: gpu/optest, "linear F16" and "embed F16".

struct Packed { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> };

fn fetch(spot: u32, b: u32) -> Packed {
  let i = spot + b * 32u;
  let at = (i >> 5u) * 128u + (i & 31u);
  return Packed(w0[at], w0[at + 32u], w0[at + 64u], w0[at + 96u]);
}

fn pair(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }

fn quad0(p: Packed) -> vec4<f32> { return pair(p.a.x, p.a.y); }
fn quad1(p: Packed) -> vec4<f32> { return pair(p.a.z, p.a.w); }
fn quad2(p: Packed) -> vec4<f32> { return pair(p.b.x, p.b.y); }
fn quad3(p: Packed) -> vec4<f32> { return pair(p.b.z, p.b.w); }
fn quad4(p: Packed) -> vec4<f32> { return pair(p.c.x, p.c.y); }
fn quad5(p: Packed) -> vec4<f32> { return pair(p.c.z, p.c.w); }
fn quad6(p: Packed) -> vec4<f32> { return pair(p.d.x, p.d.y); }
fn quad7(p: Packed) -> vec4<f32> { return pair(p.d.z, p.d.w); }
