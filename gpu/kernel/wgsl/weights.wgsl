// Weights is a decoded block: 32 weights of one row, in order. A format says how to fetch a block (Packed) and how to decode
// four of its weights (quad0 … quad7).
struct Weights {
  a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>,
  e: vec4<f32>, f: vec4<f32>, g: vec4<f32>, h: vec4<f32>,
};

// place is the number of a row's first block; block b of it is number place + 32·b.
fn place(row: u32) -> u32 { return (row / 32u) * BLOCKS * 32u + row % 32u; }

fn decode(spot: u32, b: u32) -> Weights {
  let p = fetch(spot, b);
  return Weights(quad0(p), quad1(p), quad2(p), quad3(p), quad4(p), quad5(p), quad6(p), quad7(p));
}
