// What follows norm.wgsl: SwiGLU(gate, normalised).
fn finish(at: u32, i: u32, inv: f32, g: u32) -> f32 { return apply(gate[g * SIZE + i], value(at, i, inv)); }
