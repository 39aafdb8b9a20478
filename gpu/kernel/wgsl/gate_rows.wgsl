// SigmoidGate with one number a row: y[t, i] = a[t, i] · sigmoid(b[t]).
//
// Bindings: now; a f32 [n, WIDTH] and b f32 [n] read; y f32 [n, WIDTH] write.
// Grid: flat·256 + thread → element. Source: core/model, SigmoidGate. Test: gpu/optest "sigmoid gate of a number".

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) id: u32,
) {
  let i = flat(group, groups) * 256u + id;
  if (i < now.n * WIDTH) { y[i] = a[i] / (1.0 + exp(-b[i / WIDTH])); }
}
