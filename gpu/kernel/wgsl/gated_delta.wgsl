// GatedDelta: the gated delta rule, one token after the other, the state in registers from the first to the last.
//
// With keep = exp(A·softplus(a + dt)) and β = sigmoid(b): S ← keep·S; u = β(v − Sᵀk); S ← S + k uᵀ; out = Sᵀq, which is
// computed as (keep·S)ᵀq + (q·k) u so that one reduction a token does.
//
// A workgroup holds 16 columns of the state of one value head: thread (part, column) has ROWS = ceil(KEY/16) of its KEY
// rows. Value head h reads key head h mod KEYHEADS.
//
// Bindings: now; q and k f32 [n, KEYHEADS·KEY] read; v f32 [n, HEADS·VALUE] read; a and b f32 [n, HEADS] read; gates
// vec2<f32> [HEADS] (A, dt) read; state f32 [HEADS, KEY, VALUE] read and written; y like v, write.
// Grid: x → 16 columns, y → value head.
// Source: arXiv 2412.06464. Test: gpu/optest "gated delta".
// A line with $c stands once for every row c of a thread.

var<workgroup> sums: array<vec3<f32>, 512>; // two of [16 parts][16 columns], used in turn

fn softplus(x: f32) -> f32 {
  let e = exp(-abs(x));
  return max(x, 0.0) + select(log(1.0 + e), e - 0.5 * e * e, e < 1e-3);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) id: u32) {
  let head = group.y;
  let part = id / 16u;
  let lane = id % 16u;
  let column = group.x * 16u + lane;
  let inside = column < VALUE;
  let j$c = part * ROWS + $cu;
  let ok$c = inside && j$c < KEY;
  let at$c = (head * KEY + j$c) * VALUE + column;
  var s$c = 0.0;
  if (ok$c) { s$c = state[at$c]; }
  let gate = gates[head];
  let khead = head % KEYHEADS;
  for (var t = 0u; t < now.n; t++) {
    let keep = exp(gate.x * softplus(a[t * HEADS + head] + gate.y));
    let beta = 1.0 / (1.0 + exp(-b[t * HEADS + head]));
    let base = (t * KEYHEADS + khead) * KEY;
    var sum = vec3<f32>(0.0);
    var k$c = 0.0;
    if (j$c < KEY) { k$c = k[base + j$c]; }
    var q$c = 0.0;
    if (j$c < KEY) { q$c = q[base + j$c]; }
    s$c *= keep;
    sum = fma(vec3<f32>(k$c, q$c, k$c), vec3<f32>(s$c, s$c, q$c), sum);
    let buffer = (t % 2u) * 256u;
    sums[buffer + id] = sum;
    workgroupBarrier();
    var all = vec3<f32>(0.0);
    for (var p = 0u; p < 16u; p++) { all += sums[buffer + p * 16u + lane]; }
    var value = 0.0;
    if (inside) { value = v[(t * HEADS + head) * VALUE + column]; }
    let u = beta * (value - all.x);
    s$c = fma(k$c, u, s$c);
    if (part == 0u && inside) { y[(t * HEADS + head) * VALUE + column] = fma(all.z, u, all.y); }
  }
  if (ok$c) { state[at$c] = s$c; }
}
