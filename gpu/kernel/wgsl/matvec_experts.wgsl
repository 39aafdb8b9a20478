// The rows of matvec.wgsl for experts: column p is pair p of a token and one of the USED experts that route chooses for it, and the
// rows are those of that expert. A part of the weights holds the experts [EXPERT, EXPERT + EXPERTS); pairs of others are left to
// the other parts.
//
// Bindings besides: route f32 [n, 2·USED] read. x is [n, …] where SHARED, else [n·USED, …]; y is [n·USED, COUNT].
// Preconditions: COLUMNS is 1; the rows of each expert are padded to PADDED, a multiple of 32.
// Source: core/model, ExpertLinear. Test: gpu/optest "expert linear".

fn expert(p: u32) -> u32 { return u32(route[(p / USED) * 2u * USED + p % USED]) - EXPERT; }

fn input(p: u32) -> u32 {
  if (SHARED) { return p / USED; }
  return p;
}

fn spot(first: u32, across: u32, r: u32, p: u32) -> u32 {
  return place(min(expert(p), EXPERTS - 1u) * PADDED + min(first + r * ACROSS + across, PADDED - 1u));
}

fn leave(first: u32, p: u32, id: u32) {
  if (expert(p) >= EXPERTS) { return; }
  for (var o = id; o < GROUP; o += THREADS) {
    let r = first + o;
    if (r < COUNT) { y[p * COUNT + r] = lanes(o / ACROSS, 0u, o % ACROSS); }
  }
}
