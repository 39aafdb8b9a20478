// GELU, the tanh form: 0.5 x (1 + tanh(u)) = x / (1 + exp(−2u)), u = sqrt(2/π) (x + 0.044715 x³).
fn apply(x: f32) -> f32 { return x / (1.0 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }
