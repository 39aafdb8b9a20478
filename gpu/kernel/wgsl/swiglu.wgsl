// SwiGLU: SiLU(a) · b.
fn apply(a: f32, b: f32) -> f32 { return a / (1.0 + exp(-a)) * b; }
