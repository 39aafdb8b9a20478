// Route: chooses the USED experts with the highest scores, of equal ones the lower number first, and what is no number last.
// y[t] is their numbers and then their weights: exp(score − highest), divided by the sum over all experts, or over the chosen ones
// where RENORMALIZE, times SCALE.
//
// A round finds the best score that comes after the one found before.
//
// Bindings: now; x f32 [n, EXPERTS] read; y f32 [n, 2·USED] write.
// Grid: flat → row. Source: arXiv 1701.06538; core/model, Route. Test: gpu/optest "route".

const LEAST = -3.4028234e38;

var<workgroup> scores: array<f32, 128>;
var<workgroup> ids: array<u32, 128>;
var<workgroup> chosen: array<f32, USED>;

// score is x[i], or less than every number where it is none. Comparing bits keeps a compiler from thinking that there is no such thing.
fn score(i: u32) -> f32 {
  let v = x[i];
  if ((bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u) { return LEAST; }
  return max(v, LEAST);
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let t = flat(group, groups);
  if (t >= now.n) { return; }
  let row = t * EXPERTS;
  var last = 0.0;
  var lastId = 0u;
  for (var k = 0u; k < USED; k++) {
    var best = LEAST;
    var bestId = EXPERTS;
    for (var e = id; e < EXPERTS; e += 128u) {
      let v = score(row + e);
      let after = k == 0u || v < last || (v == last && e > lastId);
      if (after && (bestId == EXPERTS || v > best)) {
        best = v;
        bestId = e;
      }
    }
    scores[id] = best;
    ids[id] = bestId;
    workgroupBarrier();
    for (var half = 64u; half > 0u; half /= 2u) {
      if (id < half) {
        let other = id + half;
        if (ids[other] < EXPERTS && (ids[id] == EXPERTS || scores[other] > scores[id] || (scores[other] == scores[id] && ids[other] < ids[id]))) {
          scores[id] = scores[other];
          ids[id] = ids[other];
        }
      }
      workgroupBarrier();
    }
    last = scores[0];
    lastId = ids[0];
    if (id == 0u) {
      chosen[k] = last;
      y[t * 2u * USED + k] = f32(lastId);
    }
    workgroupBarrier();
  }
  // Every thread sums its experts, and the first one the sums.
  let most = chosen[0];
  var sum = 0.0;
  if (RENORMALIZE) {
    if (id < USED) { sum = exp(chosen[id] - most); }
  } else {
    for (var e = id; e < EXPERTS; e += 128u) { sum += exp(score(row + e) - most); }
  }
  scores[id] = sum;
  workgroupBarrier();
  if (id == 0u) {
    var total = 0.0;
    for (var i = 0u; i < 128u; i++) { total += scores[i]; }
    scores[0] = total;
  }
  workgroupBarrier();
  if (id < USED) { y[t * 2u * USED + USED + id] = SCALE * exp(chosen[id] - most) / scores[0]; }
}
