//go:build !amd64

package mat

import "github.com/pooled/pooled/gpu/cpu/isa"

func kernelsOf(isa.Path) kernels { return portable }
