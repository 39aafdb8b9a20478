// Weight format F16: 32 numbers a block, in order.
//
// Bindings: w0 vec4<u32> [blocks, 4], read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: repacked by Layout.Pack. Test: gpu/optest, "linear f16" and "embed f16".

fn pair(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }

fn decode(i: u32) -> Weights {
  let a = w0[4u * i + 0u];
  let b = w0[4u * i + 1u];
  let c = w0[4u * i + 2u];
  let d = w0[4u * i + 3u];
  return Weights(
    pair(a.x, a.y),
    pair(a.z, a.w),
    pair(b.x, b.y),
    pair(b.z, b.w),
    pair(c.x, c.y),
    pair(c.z, c.w),
    pair(d.x, d.y),
    pair(d.z, d.w),
  );
}
