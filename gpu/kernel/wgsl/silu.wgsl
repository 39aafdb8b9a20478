// SiLU: x / (1 + exp(−x)).
fn apply(x: f32) -> f32 { return x / (1.0 + exp(-x)); }
