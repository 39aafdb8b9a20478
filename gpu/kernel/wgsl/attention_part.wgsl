// Part is the softmax over some keys, not yet divided by its sum.
struct Part { top: f32, sum: f32, values: vec2<f32> };

// merge joins part p to g, which came before it; a part without keys changes nothing.
fn merge(g: Part, p: Part) -> Part {
  if (p.sum == 0.0) { return g; }
  if (g.sum == 0.0) { return p; }
  let top = max(g.top, p.top);
  let cg = exp(g.top - top);
  let cp = exp(p.top - top);
  return Part(top, fma(p.sum, cp, g.sum * cg), fma(p.values, vec2<f32>(cp), g.values * cg));
}
