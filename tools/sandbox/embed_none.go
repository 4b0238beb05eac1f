//go:build !helper || !linux || !(amd64 || arm64)

package sandbox

// embedded is the helper. A build without it has none.
var embedded []byte
