//go:build !amd64

package vec

var kernel = portable
