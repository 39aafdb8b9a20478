// GeGLU: GELU(a) · b; see gelu.wgsl.
fn apply(a: f32, b: f32) -> f32 { return a / (1.0 + exp(-1.5957691216057308 * (a + 0.044715 * a * a * a))) * b; }
