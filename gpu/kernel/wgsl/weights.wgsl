// Weights is a decoded block: 32 weights of one row, in order.
struct Weights {
  a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>,
  e: vec4<f32>, f: vec4<f32>, g: vec4<f32>, h: vec4<f32>,
};
