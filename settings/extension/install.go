package extension

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// An Install is the installation note of an extension, in the Gemini CLI's format.
type Install struct {
	Source     string `json:"source"`
	Type       string `json:"type"` // git, github-release, local or link
	ReleaseTag string `json:"releaseTag,omitempty"`
	Ref        string `json:"ref,omitempty"`
	AutoUpdate bool   `json:"autoUpdate,omitempty"`
	PreRelease bool   `json:"allowPreRelease,omitempty"`

	// Commit, gemline's own field, is the installed commit of a branch.
	Commit string `json:"gemlineCommit,omitempty"`

	// Folders, gemline's own field, are the folders with stored secrets of the extension.
	Folders []string `json:"gemlineFolders,omitempty"`

	// Told is the reason why the extension is not updated, which a session has printed.
	Told string `json:"gemlineTold,omitempty"`
}

// A Setting is a value that the user gives to an extension.
type Setting struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	EnvVar      string `json:"envVar"`
	Sensitive   bool   `json:"sensitive,omitempty"`
}

// Read reads the extension in a folder, for a working directory. It ignores an installation note in
// the folder: anybody may have written it.
func Read(dir, cwd string) (Extension, error) { return Extension{Dir: dir, Home: dir}.read(cwd) }

// WriteInstall writes an installation note into the folder of its extension.
func WriteInstall(dir string, i Install) error {
	return writeJSON(filepath.Join(dir, installName), i, "  ")
}

// sumsOf returns a hash of each file of an extension, by its name. It leaves out the notes about
// settings and installation, .git, and Python's caches. If known is given, other files get no hash
// and are returned as added.
func sumsOf(dir string, known map[string]string) (sums map[string]string, added []string, err error) {
	sums = map[string]string{}
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, at)
		name = filepath.ToSlash(name)
		switch _, is := known[name]; {
		case d.IsDir() && (name == ".git" || d.Name() == "__pycache__"):
			return fs.SkipDir
		case slices.Contains([]string{".git", installName, filesName, envName}, name), d.IsDir():
			return nil
		case known != nil && !is:
			added = append(added, name)
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			sums[name] = "link " + target
			return err
		}
		f, err := disk.Open(at)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		_, err = io.Copy(h, f)
		sums[name] = hex.EncodeToString(h.Sum(nil))
		return err
	})
	return sums, added, err
}

// WriteFileList stores the list of installed files in the folder of an extension.
func WriteFileList(dir string) error {
	sums, _, err := sumsOf(dir, nil)
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, filesName), sums, " ")
}

// writeJSON writes v to a file as JSON.
func writeJSON(path string, v any, indent string) error {
	b, _ := text.JSON(v, indent) // it holds only texts, so it can't fail
	return disk.Replace(path, append(b, '\n'), 0o600)
}

// Modified reports whether files of an extension were changed since its installation, and which
// were added. Without a list of installed files, it reports nothing.
func Modified(dir string) (changed bool, added []string, err error) {
	var was map[string]string
	b, err := disk.Read(filepath.Join(dir, filesName), maxSums)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil {
		return false, nil, err
	}
	now, added, err := sumsOf(dir, was)
	return !maps.Equal(was, now), added, err
}

// KeepAdded hard-links files that were added to an extension into the folder of its new version,
// unless the new version has the same name or a link in the path. It returns the names of the
// linked files; a wholly new folder is one name.
func KeepAdded(from, to string, added []string) (kept []string, err error) {
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	made := map[string]bool{}
	for _, name := range added {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		top, linked := name, false
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			info, err := root.Lstat(dir)
			linked = linked || err == nil && !info.IsDir()
			if err != nil || made[dir] {
				made[dir], top = true, dir
			}
		}
		if linked {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, err
		}
		local := filepath.FromSlash(name)
		if err := os.Link(filepath.Join(from, local), filepath.Join(to, local)); err != nil {
			return nil, err
		}
		if !slices.Contains(kept, top) {
			kept = append(kept, top)
		}
	}
	return kept, nil
}

// ID returns the identity of an extension by its source, as in the Gemini CLI.
func ID(source, name string) string {
	about := cmp.Or(source, name)
	for _, prefix := range []string{"https://github.com/", "git@github.com:", "ssh://git@github.com/"} {
		if rest, ok := strings.CutPrefix(source, prefix); ok {
			about = "https://github.com/" + strings.TrimSuffix(rest, ".git")
		}
	}
	sum := sha256.Sum256([]byte(about))
	return hex.EncodeToString(sum[:])
}

// SetEnabled switches an extension on or off below a directory, or everywhere for "". It drops
// earlier switches for directories below.
func SetEnabled(ctx context.Context, dir, name, at string, on bool) error {
	rule := "/*"
	if at != "" {
		rule = slashed(at) + "*"
	}
	return changeSwitches(ctx, dir, func(all map[string]switched) {
		s := all[name]
		s.Overrides = slices.DeleteFunc(s.Overrides,
			func(r string) bool { return fits(rule, strings.TrimSuffix(strings.TrimPrefix(r, "!"), "*")) })
		if !on {
			rule = "!" + rule
		}
		s.Overrides = append(s.Overrides, rule)
		all[name] = s
	})
}

// Forget removes an extension from the list of switches.
func Forget(ctx context.Context, dir, name string) error {
	if _, err := os.Stat(filepath.Join(dir, enablementName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return changeSwitches(ctx, dir, func(all map[string]switched) { delete(all, name) })
}

// switched is an extension's entry in extension-enablement.json: the rules where it is switched on
// or off.
type switched struct {
	Overrides []string `json:"overrides"`
}

func changeSwitches(ctx context.Context, dir string, change func(map[string]switched)) error {
	return disk.ChangeObject(ctx, filepath.Join(dir, enablementName), change)
}

// envName is the file of an extension's values, without secrets.
const envName = ".env"

var validVariable = text.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Values returns the values of an extension's settings in a file.
func Values(path string) (map[string]string, error) {
	b, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	values := map[string]string{}
	for line := range strings.SplitSeq(string(b), "\n") {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !validVariable().MatchString(name) {
			continue
		}
		var whole string
		if json.Unmarshal([]byte(value), &whole) == nil && strings.HasPrefix(value, `"`) {
			value = whole
		}
		values[name] = value
	}
	return values, err
}

// SetValue sets a setting in a file of values, or removes it if value is "".
func SetValue(path, name, value string) error {
	b, err := disk.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !validVariable().MatchString(name) || strings.ContainsAny(value, "\n\r\x00") {
		return fmt.Errorf("%.60q can't have a value of several lines", name)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		if had, _, _ := strings.Cut(strings.TrimSpace(line), "="); had != name && line != "" {
			lines = append(lines, line)
		}
	}
	if strings.ContainsAny(value, " \t\"\\#'$") {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	if value != "" {
		lines = append(lines, name+"="+value)
	}
	return disk.Replace(path, []byte(strings.Join(append(lines, ""), "\n")), 0o600)
}

// EnvFile returns the file of the extension's values.
func (x Extension) EnvFile() string { return filepath.Join(x.Home, envName) }

// Service returns the keyring's service name for an extension's secrets, for a working directory if
// one is given.
func (x Extension) Service(cwd string) string {
	s := "Gemini CLI Extensions " + x.Name + " " + x.ID
	if cwd != "" {
		s += " " + cwd
	}
	return s
}
