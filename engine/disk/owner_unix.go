//go:build unix

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// WorldWritable says why somebody other than the administrator may have written the file at
// path: another user owns the file or a directory above it, or may write there. A missing file
// is not writable.
func WorldWritable(path string) string {
	if path == os.DevNull {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return "" // the reader reports it
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Cause(err).Error()
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err.Error()
	}
	for _, p := range []string{abs, real} {
		for at := range Upward(p) {
			if why := open(at); why != "" {
				return why
			}
		}
	}
	return ""
}

// open says why somebody other than the administrator may write to path.
func open(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return Cause(err).Error()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		return fmt.Sprintf("%s does not belong to root", path)
	}
	if info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("others than root may write %s", path)
	}
	return ""
}

// OwnedByOther says why the file at path must not be used, "" if it may be used. The owner must
// be the user, the administrator or the owner of the working directory.
func OwnedByOther(path, cwd string) string {
	file, here := owner(path), owner(cwd)
	if file < 0 || file == 0 || file == here || file == os.Geteuid() {
		return ""
	}
	return "it belongs to another user"
}

// owner returns the number of the user to whom path belongs, or -1.
func owner(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(st.Uid)
}

// WritableByOthers says why somebody other than the user and the administrator may have written
// the file at path. A group with the user's own number counts as the user's private group.
func WritableByOthers(path string) string {
	real := ResolveLinks(path)
	for _, at := range []string{real, filepath.Dir(real)} {
		info, err := os.Stat(at)
		if err != nil {
			return Cause(err).Error()
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode()
		what := "this file"
		if at != real {
			what = at
		}
		if info.IsDir() && mode&os.ModeSticky != 0 {
			continue // in a sticky directory a user can replace only own files
		}
		switch {
		case mode.Perm()&0o002 != 0:
			return fmt.Sprintf("anybody may write %s (chmod go-w mends it)", what)
		case !ok:
		case mode.Perm()&0o020 != 0 && st.Gid != st.Uid:
			return fmt.Sprintf("a group may write %s (chmod go-w mends it)", what)
		case at == real && st.Uid != 0 && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid():
			return fmt.Sprintf("%s belongs to somebody else", what)
		}
	}
	return ""
}

// OwnedByUser reports whether the file that info describes belongs to the user.
func OwnedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
