// Small integers as floating-point numbers, shared by the quantised weight formats.

// exact converts integers below 2^23. GPUs convert at a quarter of the rate at which they add: it is cheaper to make the
// integer the mantissa of 2^23 + u, and to take 2^23 away.
fn exact(u: vec4<u32>) -> vec4<f32> { return bitcast<vec4<f32>>(u | vec4<u32>(0x4b000000u)) - vec4<f32>(8388608.0); }

// low and high are the low and the high four bits of each byte.
fn low(w: u32) -> vec4<u32> { return (vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(15u); }
fn high(w: u32) -> vec4<u32> { return (vec4<u32>(w) >> vec4<u32>(4u, 12u, 20u, 28u)) & vec4<u32>(15u); }

// half_of returns float16 number i of a plane, of which pair is word i/2.
fn half_of(pair: u32, i: u32) -> f32 {
  let both = unpack2x16float(pair);
  return select(both.x, both.y, (i & 1u) == 1u);
}

// super_block is the number of the super-block of 256 weights that holds block b of a row that begins at block spot.
fn super_block(spot: u32, b: u32) -> u32 { return (spot >> 5u) * 4u + (spot & 31u) + (b >> 3u) * 32u; }
