// ShortConv: out[t, c] = Σ_j W[c, j] · row[t + j, c], where rows 0 … TAPS−2 are the state and the batch follows; then the
// state becomes the last TAPS−1 rows. A SiLU that follows can be fused.
//
// Bindings: now; x f32 [n, CHANNELS] read; y the same, write; weight f32 [CHANNELS, TAPS] read; state f32
// [TAPS−1, CHANNELS] read and written.
// Grid: flat·64 + thread → channel. Source: core/model, ShortConv. Test: gpu/optest "short conv".

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let c = flat(group, groups) * 64u + id;
  if (c >= CHANNELS) { return; }
  for (var t = 0u; t < now.n; t++) {
    var sum = 0.0;
    for (var j = 0u; j < TAPS; j++) {
      let r = t + j;
      var v = 0.0;
      if (r < TAPS - 1u) { v = state[r * CHANNELS + c]; } else { v = x[(r - (TAPS - 1u)) * CHANNELS + c]; }
      sum = fma(weight[c * TAPS + j], v, sum);
    }
    y[t * CHANNELS + c] = activate(sum);
  }
  // Upwards, so that what is still to be read of a short batch is not yet overwritten.
  for (var i = 0u; i < TAPS - 1u; i++) {
    let r = now.n + i;
    if (r < TAPS - 1u) {
      state[i * CHANNELS + c] = state[r * CHANNELS + c];
    } else {
      state[i * CHANNELS + c] = x[(r - (TAPS - 1u)) * CHANNELS + c];
    }
  }
}
