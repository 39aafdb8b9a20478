//go:build !linux

package cli

func residentOS() int64 { return 0 }
