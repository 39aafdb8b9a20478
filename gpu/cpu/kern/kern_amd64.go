package kern

import (
	"os"

	"golang.org/x/sys/cpu"
)

// useAVX2 is off where the processor lacks AVX2 and FMA (every processor that has both converts float16 too) and where
// POOLED_CPU asks for the portable loops.
var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && os.Getenv("POOLED_CPU") != "portable"
