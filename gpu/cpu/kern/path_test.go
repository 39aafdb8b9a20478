//go:build amd64

package kern

func setAVX2(on bool) { useAVX2 = on }
