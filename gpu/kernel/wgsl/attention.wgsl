// Attention over a float16 cache, in the flash form: softmax(SCALE · q·kᵀ) · v, one pass over the keys.
//
// A workgroup takes MROWS query rows of one KV head; row r is column r / SHARE, query head r mod SHARE of that KV head.
// Keys are taken in blocks of BLOCK and segments of SEGMENT positions, both cut at multiples of their size. Within a
// segment the softmax is kept online; segments are then merged in order. With SPLIT each segment is a workgroup of its own
// that leaves its part for attention_merge.wgsl, which merges in the same order with the same formula: the bits of
// a row depend neither on SPLIT nor on the rows beside it. A masked block changes nothing.
//
// Bindings: now; q f32 [n, HEADS·KEY] read; keys u32 [context, KVHEADS, KWORDS] and values u32 [context, KVHEADS,
// VWORDS] two float16 a word, read; y write: f32 [n, HEADS·VALUE], or with SPLIT the parts f32
// [segments, n·HEADS, VALUE + 2] (largest score, sum, weighted values).
// Grid: x → MROWS rows, y → KV head, z → segment where SPLIT.
// Preconditions: MROWS·BLOCK ≤ 256, or 512 with PAIRS = 2; THREADROWS·THREADGROUPS = MROWS; VWORDS·THREADGROUPS ≤ 256.
// Source: Dao 2023, arXiv 2307.08691. Test: gpu/optest "attention".
// A line with $c stands once for every row c of a thread.

const LOWEST: f32 = -3.0e38;

var<workgroup> tq: array<vec2<f32>, TQ>;      // [MROWS][KWORDS]
var<workgroup> tk: array<u32, TK>;            // [BLOCK][KWORDS + 1]
var<workgroup> scores: array<f32, SCORES>;    // [MROWS][BLOCK]
var<workgroup> tops: array<f32, MROWS>;       // largest score of the segment so far
var<workgroup> shrinks: array<f32, MROWS>;    // what the sums so far are multiplied by

// highest is the largest of top and the scores of row r.
fn highest(r: u32, top: f32) -> f32 {
  var m = top;
  for (var j = 0u; j < BLOCK; j++) { m = max(m, scores[r * BLOCK + j]); }
  return m;
}

// keep replaces score i by its weight and, once a row, notes what a new largest score means.
fn keep(i: u32, weight: f32, was: f32, top: f32) {
  scores[i] = weight;
  if (i % BLOCK == 0u) {
    tops[i / BLOCK] = top;
    shrinks[i / BLOCK] = select(1.0, exp(was - top), top > was);
  }
}

// first is the first position that the query at position p attends to.
fn first(p: u32) -> u32 {
  if (WINDOW == 0u || p < WINDOW) { return 0u; }
  return p + 1u - WINDOW;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) id: u32) {
  let rows = now.n * SHARE;
  let row0 = group.x * MROWS;
  let head = group.y;
  for (var i = id; i < MROWS * KWORDS; i += 256u) {
    let r = min(row0 + i / KWORDS, rows - 1u);
    let d = 2u * (i % KWORDS);
    let at = ((r / SHARE) * HEADS + head * SHARE + r % SHARE) * KEY + d;
    var v = vec2<f32>(q[at], 0.0);
    if (d + 1u < KEY) { v.y = q[at + 1u]; }
    tq[i] = v;
  }
  let word = id % VWORDS;
  let mine = (id / VWORDS) * THREADROWS; // the first of this thread's rows
  let busy = id < VWORDS * THREADGROUPS;
  var gm$c = LOWEST;
  var gl$c = 0.0;
  var ga$c = vec2<f32>(0.0);
  let begin = first(now.pos + min(row0, rows - 1u) / SHARE);
  let end = now.pos + min(row0 + MROWS - 1u, rows - 1u) / SHARE + 1u;
  var segment = begin / SEGMENT;
  var segments = (end + SEGMENT - 1u) / SEGMENT;
  if (SPLIT) {
    segment = group.z + first(now.pos) / SEGMENT;
    segments = segment + 1u;
  }
  for (; segment < segments; segment++) {
    var l$c = 0.0;
    var a$c = vec2<f32>(0.0);
    // A thread scores PAIRS pairs of a row and a key; all threads of a row keep the same largest score.
    var top0 = LOWEST;
    var top1 = LOWEST;
    let stop = min(end, (segment + 1u) * SEGMENT);
    for (var key0 = (max(begin, segment * SEGMENT) / BLOCK) * BLOCK; key0 < stop; key0 += BLOCK) {
      for (var i = id; i < BLOCK * KWORDS; i += 256u) {
        let key = min(key0 + i / KWORDS, now.total - 1u);
        tk[(i / KWORDS) * (KWORDS + 1u) + i % KWORDS] = keys[(key * KVHEADS + head) * KWORDS + i % KWORDS];
      }
      workgroupBarrier();
      for (var i = id; i < MROWS * BLOCK; i += 256u) {
        let r = i / BLOCK;
        let j = i % BLOCK;
        var dot = 0.0;
        for (var w = 0u; w < KWORDS; w++) {
          let k = unpack2x16float(tk[j * (KWORDS + 1u) + w]);
          let v = tq[r * KWORDS + w];
          dot = fma(v.y, k.y, fma(v.x, k.x, dot));
        }
        let p = now.pos + (row0 + r) / SHARE;
        let seen = key0 + j <= p && key0 + j >= first(p);
        scores[i] = select(LOWEST, dot * SCALE, seen);
      }
      workgroupBarrier();
      let was0 = top0;
      let was1 = top1;
      var weight0 = 0.0;
      var weight1 = 0.0;
      if (id < MROWS * BLOCK) {
        top0 = highest(id / BLOCK, top0);
        weight0 = select(0.0, exp(scores[id] - top0), scores[id] > LOWEST);
      }
      if (PAIRS == 2u) {
        top1 = highest((id + 256u) / BLOCK, top1);
        weight1 = select(0.0, exp(scores[id + 256u] - top1), scores[id + 256u] > LOWEST);
      }
      workgroupBarrier();
      if (id < MROWS * BLOCK) { keep(id, weight0, was0, top0); }
      if (PAIRS == 2u) { keep(id + 256u, weight1, was1, top1); }
      workgroupBarrier();
      if (busy) {
        l$c *= shrinks[mine + $cu];
        a$c *= shrinks[mine + $cu];
        // Eight values are under way at a time. A key that is masked, or behind the last, weighs 0.
        for (var j = 0u; j < BLOCK; j += 8u) {
          $each
          let v$k = unpack2x16float(values[(min(key0 + j + $ku, now.total - 1u) * KVHEADS + head) * VWORDS + word]);
          $end
          $each
          l$c += scores[(mine + $cu) * BLOCK + j + $ku];
          a$c = fma(vec2<f32>(scores[(mine + $cu) * BLOCK + j + $ku]), v$k, a$c);
          $end
        }
      }
    }
    if (busy && SPLIT) {
      leave(group.z, row0 + mine + $cu, rows, head, word, Part(tops[mine + $cu], l$c, a$c));
    }
    if (busy && !SPLIT) {
      let m$c = merge(Part(gm$c, gl$c, ga$c), Part(tops[mine + $cu], l$c, a$c));
      gm$c = m$c.top;
      gl$c = m$c.sum;
      ga$c = m$c.values;
    }
  }
  if (busy && !SPLIT) {
    finish(row0 + mine + $cu, rows, head, word, ga$c / gl$c);
  }
}
