//go:build helper

package sandbox

import _ "embed"

// embedded is the helper, as make build has built it.
//
//go:embed helper_linux_amd64.bin
var embedded []byte
