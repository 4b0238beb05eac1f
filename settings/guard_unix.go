//go:build unix

package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// exposed says why somebody other than the administrator may have written the
// file at path: who owns it or a directory above it, or who may write there.
// A file that is not there is nobody's.
func exposed(path string) string {
	if path == os.DevNull {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return "" // whoever reads it says so
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return cause(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err.Error()
	}
	for _, p := range []string{abs, real} {
		for {
			if why := writable(p); why != "" {
				return why
			}
			up := filepath.Dir(p)
			if up == p {
				break
			}
			p = up
		}
	}
	return ""
}

// writable says why somebody other than the administrator may write path.
func writable(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return cause(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		return fmt.Sprintf("%s does not belong to root", path)
	}
	if info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("others than root may write %s", path)
	}
	return ""
}
