// A gated linear unit as the rows of matvec.wgsl: y[t, r] = SiLU(Σ_k G[r, k]·x[t, k]) · Σ_k U[r, k]·x[t, k].
//
// G and U are one matrix in memory, 32 rows of G and 32 of U in turn; a thread has the same rows of either in turn. The sums are those of
// matvec.wgsl and the rest is swiglu.wgsl, to the bit.
//
// Preconditions: ROWS is even; the rows of G and of U are multiples of 32, which ACROSS divides.
// Source: arXiv 2002.05202. Test: gpu/optest "linear glu"; gpu/exec TestFusedEqualsPlain.

fn input(column: u32) -> u32 { return min(column, now.n - 1u); }

fn spot(first: u32, across: u32, r: u32, column: u32) -> u32 {
  let row = min(first + (r / 2u) * ACROSS + across, COUNT - 1u);
  return place((row / 32u) * 64u + (r % 2u) * 32u + row % 32u);
}

fn leave(first: u32, column: u32, id: u32) {
  for (var o = id; o < COLUMNS * GROUP; o += THREADS) {
    let i = o % GROUP;
    let c = o / GROUP;
    let r = first + i;
    let t = column + c;
    let pair = 2u * (i / ACROSS);
    if (r < COUNT && t < now.n) {
      y[t * WIDTH + FIRST + r] = apply(lanes(pair, c, i % ACROSS), lanes(pair + 1u, c, i % ACROSS));
    }
  }
}
