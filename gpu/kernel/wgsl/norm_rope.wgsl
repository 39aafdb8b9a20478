// What follows norm.wgsl: Rope, each group a head; see rope.wgsl.
fn finish(at: u32, i: u32, inv: f32, g: u32) -> f32 {
  let v = value(at, i, inv);
  if (i >= DIMS) { return v; }
  var pair = i % (DIMS / 2u);
  var second = i >= DIMS / 2u;
  var mate = DIMS / 2u;
  if (INTERLEAVED) {
    pair = i / 2u;
    second = i % 2u == 1u;
    mate = 1u;
  }
  let turn = turns[(g / GROUPS) * (DIMS / 2u) + pair];
  if (second) { return fma(value(at, i - mate, inv), turn.y, v * turn.x); }
  return fma(-value(at, i + mate, inv), turn.y, v * turn.x);
}
