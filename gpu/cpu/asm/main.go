// Command asm generates the assembly of the packages mat, vec and kern.
//
// It is a module of its own, so that Pooled itself does not depend on the
// assembler library. The first argument names a set of kernels, the others are
// avo's (-out, -stubs, -pkg); `go generate` in
// those packages calls it.
package main

import (
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

// sets are the kernels that go into one file.
var sets = map[string]func(){
	"mat-avx512": matAVX512,
	"mat-avx2":   matAVX2,
	"vec-avx2":   vecAVX2,
	"kern-avx2":  kernAVX2,
}

func main() {
	if len(os.Args) < 2 || sets[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: asm SET [avo flags]")
		os.Exit(2)
	}
	set := sets[os.Args[1]]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	build.ConstraintExpr("amd64")
	set()
	build.Generate()
}
