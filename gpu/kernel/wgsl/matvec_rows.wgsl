// The rows of matvec.wgsl: row r of a thread is ACROSS after row r − 1, and sums go to y.

fn input(column: u32) -> u32 { return min(column, now.n - 1u); }

fn spot(first: u32, across: u32, r: u32, column: u32) -> u32 { return place(min(first + r * ACROSS + across, PADDED - 1u)); }

fn leave(first: u32, column: u32, id: u32) {
  for (var o = id; o < COLUMNS * GROUP; o += THREADS) {
    let i = o % GROUP;
    let r = first + i;
    let t = column + o / GROUP;
    if (r < COUNT && t < now.n) {
      y[t * WIDTH + FIRST + r] = finish(lanes(i / ACROSS, o / GROUP, i % ACROSS), t, FIRST + r);
    }
  }
}
