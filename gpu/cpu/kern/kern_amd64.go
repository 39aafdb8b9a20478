package kern

import "github.com/pooled/pooled/gpu/cpu/isa"

var useAVX2 = isa.Best() >= isa.AVX2
