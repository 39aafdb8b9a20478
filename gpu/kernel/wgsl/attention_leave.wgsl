// What attention.wgsl does with a row: a part with SPLIT, else the result.

fn leave(slot: u32, row: u32, rows: u32, head: u32, word: u32, p: Part) {
  if (row >= rows) { return; }
  let at = (slot * now.n * HEADS + (row / SHARE) * HEADS + head * SHARE + row % SHARE) * (VALUE + 2u);
  if (word == 0u) {
    y[at] = p.top;
    y[at + 1u] = p.sum;
  }
  y[at + 2u + 2u * word] = p.values.x;
  if (2u * word + 1u < VALUE) { y[at + 3u + 2u * word] = p.values.y; }
}

fn finish(row: u32, rows: u32, head: u32, word: u32, v: vec2<f32>) {
  if (row >= rows) { return; }
  let at = ((row / SHARE) * HEADS + head * SHARE + row % SHARE) * VALUE + 2u * word;
  y[at] = v.x;
  if (2u * word + 1u < VALUE) { y[at + 1u] = v.y; }
}
