// Weight format Q8_0: decodes block i, 32 weights of one row, to float32.
//
// w = d·q, q in −128…127.
// Bindings: w0 vec4<u32> [blocks, 2] bytes in order; w1 f16 [blocks] d; both read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: ggml-common.h, block_q8_0; repacked by Layout.Pack. Test: gpu/optest, "linear q8_0" and "embed q8_0".

// half16 reads float16 number i of a plane.
fn half16(i: u32) -> f32 {
  let pair = unpack2x16float(w1[i >> 1u]);
  return select(pair.x, pair.y, (i & 1u) == 1u);
}

fn bytes(w: u32) -> vec4<f32> {
  let v = bitcast<i32>(w);
  return vec4<f32>(f32((v << 24u) >> 24u), f32((v << 16u) >> 24u), f32((v << 8u) >> 24u), f32(v >> 24u));
}

fn decode(i: u32) -> Weights {
  let a = w0[2u * i];
  let b = w0[2u * i + 1u];
  let s = half16(i);
  return Weights(
    s * bytes(a.x), s * bytes(a.y), s * bytes(a.z), s * bytes(a.w),
    s * bytes(b.x), s * bytes(b.y), s * bytes(b.z), s * bytes(b.w),
  );
}
