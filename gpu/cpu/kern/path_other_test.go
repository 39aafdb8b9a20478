//go:build !amd64

package kern

func setAVX2(bool) {}
