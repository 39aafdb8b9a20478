// Scale: x · FACTOR.
fn apply(x: f32) -> f32 { return x * FACTOR; }
