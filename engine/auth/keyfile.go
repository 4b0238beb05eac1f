package auth

import (
	"fmt"
	"io"
	"os"
	"strings"

	"gemline/engine/disk"
)

// maxKeyFile is how many bytes of a key file are read.
const maxKeyFile = 64 << 10

// ReadKey returns the key in the named file: its only line. The file may be a pipe, such as a
// shell's <(command). The warning says that other users may read the file. If name is "", so is
// the key. The error is an [Error].
func ReadKey(name string) (key, warning string, err error) {
	if name == "" {
		return "", "", nil
	}
	const hint = "the file holds the key and nothing else: one word on one line"
	bad := func(err error) error {
		err = disk.Cause(err)
		return &Error{Message: fmt.Sprintf("the key can't be read from %s: %v", name, err), Advice: hint, Err: err}
	}
	f, err := os.Open(name)
	if err != nil {
		return "", "", bad(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return "", "", bad(err)
	}
	key = strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if err := checkKey(key); err != nil {
		return "", "", &Error{Message: fmt.Sprintf("%s holds no key: %v", name, err), Advice: hint}
	}
	if info, err := f.Stat(); err == nil && exposed(info) {
		warning = fmt.Sprintf("others can read the key in %s; chmod 600 keeps it to you", name)
	}
	return key, warning, nil
}
