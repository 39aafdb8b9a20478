// LogSumExp: log Σ exp(logit) over the last column, in two rounds of (largest, sum of exp of the distance to it).
//
// Bindings: now; logits f32 [n, COUNT] read where FIRST, else from vec2<f32> [COUNT] read; y vec2<f32> [groups] write;
// the second round writes (result, 0).
// Grid: x → 4,096 values. Source: the usual shift by the maximum. Test: gpu/exec TestTop.

var<workgroup> tops: array<f32, 256>;
var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) id: u32) {
  let begin = group.x * 4096u;
  let end = min(begin + 4096u, COUNT);
  var top = -3.4e38;
  for (var i = begin + id; i < end; i += 256u) { top = max(top, load(i).x); }
  var sum = 0.0;
  for (var i = begin + id; i < end; i += 256u) {
    let v = load(i);
    sum = fma(v.y, exp(v.x - top), sum);
  }
  tops[id] = top;
  sums[id] = sum;
  workgroupBarrier();
  for (var gap = 128u; gap > 0u; gap /= 2u) {
    if (id < gap) {
      let m = max(tops[id], tops[id + gap]);
      sums[id] = sums[id] * exp(tops[id] - m) + sums[id + gap] * exp(tops[id + gap] - m);
      tops[id] = m;
    }
    workgroupBarrier();
  }
  if (id == 0u) { y[group.x] = result(tops[0], sums[0]); }
}
