package mat

// fma is a·b + c with one rounding: the compiler fuses the two on arm64, which
// TestFMA and TestGoldenBits check.
func fma(a, b, c float32) float32 { return a*b + c }
