// Weight format F32: 32 numbers a block, in order.
//
// Bindings: w0 vec4<u32> [blocks, 8], read.
// Block i of a matrix [rows, 32·BLOCKS] is (tile·BLOCKS + block)·32 + row mod 32, where tile = row/32.
// Source: repacked by Layout.Pack. Test: gpu/optest, "linear f32" and "embed f32".

fn decode(i: u32) -> Weights {
  return Weights(
    bitcast<vec4<f32>>(w0[8u * i + 0u]),
    bitcast<vec4<f32>>(w0[8u * i + 1u]),
    bitcast<vec4<f32>>(w0[8u * i + 2u]),
    bitcast<vec4<f32>>(w0[8u * i + 3u]),
    bitcast<vec4<f32>>(w0[8u * i + 4u]),
    bitcast<vec4<f32>>(w0[8u * i + 5u]),
    bitcast<vec4<f32>>(w0[8u * i + 6u]),
    bitcast<vec4<f32>>(w0[8u * i + 7u]),
  );
}
