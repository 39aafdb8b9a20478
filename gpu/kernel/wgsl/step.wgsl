// What changes from pass to pass. Every kernel sees it as binding 0.
struct Step {
  n: u32,       // columns of this pass
  pos: u32,     // position of the first one
  total: u32,   // pos + n
  segment: u32, // the first attention segment that a windowless pass needs; 0 today
};

// flat numbers workgroups that are spread over two dimensions, since one dimension has at most 65,535.
fn flat(group: vec3<u32>, groups: vec3<u32>) -> u32 { return group.y * groups.x + group.x; }
