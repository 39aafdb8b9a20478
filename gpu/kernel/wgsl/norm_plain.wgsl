// What follows norm.wgsl: nothing.
fn finish(at: u32, i: u32, inv: f32, g: u32) -> f32 { return value(at, i, inv); }
