package kern

import "github.com/pooled/pooled/gpu/cpu/isa"

//go:generate go run -C ../asm . kern-avx2 -out ../kern/kern_avx2_gen_amd64.s -stubs ../kern/kern_avx2_gen_amd64.go -pkg kern

var useAVX2 = isa.Best() >= isa.AVX2
