// The rows of matvec_experts.wgsl where the matrix of an expert is two, of which 32 rows stand in turn: see matvec_glu.wgsl.
//
// Preconditions: ROWS is even; COUNT, the rows of either half, is a multiple of 32.
// Source: arXiv 2002.05202. Test: gpu/optest "expert network"; gpu/exec TestFusedEqualsPlain.

fn expert(p: u32) -> u32 { return u32(route[(p / USED) * 2u * USED + p % USED]) - EXPERT; }

fn input(p: u32) -> u32 {
  if (SHARED) { return p / USED; }
  return p;
}

fn spot(first: u32, across: u32, r: u32, p: u32) -> u32 {
  let row = min(first + (r / 2u) * ACROSS + across, COUNT - 1u);
  return place(min(expert(p), EXPERTS - 1u) * PADDED + (row / 32u) * 64u + (r % 2u) * 32u + row % 32u);
}

fn leave(first: u32, p: u32, id: u32) {
  if (expert(p) >= EXPERTS) { return; }
  for (var o = id; o < GROUP; o += THREADS) {
    let r = first + o;
    let pair = 2u * (o / ACROSS);
    if (r < COUNT) { y[p * COUNT + r] = apply(lanes(pair, 0u, o % ACROSS), lanes(pair + 1u, 0u, o % ACROSS)); }
  }
}
