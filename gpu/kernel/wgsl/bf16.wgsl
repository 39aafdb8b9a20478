// Weight format BF16: 32 numbers a block, in order.
//
// Bindings: w0 vec4<u32> [blocks, 4], read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: repacked by Layout.Pack. Test: gpu/optest, "linear bf16" and "embed bf16".

fn pair(a: u32, b: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(a << 16u, a & 0xffff0000u, b << 16u, b & 0xffff0000u));
}

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
