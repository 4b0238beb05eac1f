package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/disk"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// A Rule is the user's decision about a folder and all folders below.
type Rule string

// The rules, as in the file. Parent is about the folder above.
const (
	Folder Rule = "TRUST_FOLDER"
	Parent Rule = "TRUST_PARENT"
	Deny   Rule = "DO_NOT_TRUST"
)

// A Decision is an entry in the list of folders.
type Decision struct {
	Path string `json:"path"`
	Rule Rule   `json:"rule"`
}

// About returns the real path of the folder that the rule is about.
func (d Decision) About() string {
	path := filepath.Clean(d.Path)
	if d.Rule == Parent {
		path = filepath.Dir(path)
	}
	return disk.ResolveLinks(path)
}

// A List is the user's list of folders.
type List struct{ Path string } // "" if there is no home directory to hold it

// Folders returns the user's list of folders, which a variable may replace.
func Folders(p project.Paths, lookup func(string) (string, bool)) List {
	if path, _ := lookup("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); path != "" {
		return List{disk.Absolute(path, p.Cwd, p.Home)} // a ~ in a .env file is the home directory
	}
	return List{p.User("trustedFolders.json")}
}

// Denied reports whether the list forbids trusting a folder. An unreadable list forbids it.
func (l List) Denied(folder string) bool {
	rules, err := l.Decisions()
	state, _ := judge(rules, disk.ResolveLinks(folder))
	return err != nil || state == Distrusted
}

// Decisions returns the rules of the list, in the order of the file. A list that
// others may write, or with an invalid rule, is refused as a whole. If a folder
// is named twice, both rules are returned. The error is a [jsonc.Error].
func (l List) Decisions() ([]Decision, error) {
	b, err := jsonc.ReadFile(l.Path)
	if err != nil || b == nil {
		return nil, err
	}
	if why := disk.WritableByOthers(l.Path); why != "" {
		return nil, &jsonc.Error{Path: l.Path, Message: why + ", so it decides nothing"}
	}
	d, err := jsonc.Parse(l.Path, b)
	if err != nil {
		return nil, err
	}
	var rules []Decision
	for folder, v := range d.Members() {
		word, _ := v.(string)
		rule := Rule(word)
		if rule != Folder && rule != Parent && rule != Deny {
			return nil, &jsonc.Error{Path: l.Path,
				Message: fmt.Sprintf("%.200q must be %s, %s or %s, not %s", folder, Folder, Parent,
					Deny, jsonc.Describe(v))}
		}
		rules = append(rules, Decision{folder, rule})
	}
	return rules, nil
}

// judge returns the trust of a folder, given by its real path, and the deciding rule: the rule with
// the longest path, and the stricter of two rules with the same path.
func judge(rules []Decision, folder string) (State, Decision) {
	state, longest, by := Unknown, -1, Decision{}
	line := parentsOf(folder)
	for _, d := range rules {
		if !filepath.IsAbs(d.Path) {
			continue
		}
		n := line.find(d.About())
		if n < 0 || n < longest {
			continue
		}
		switch {
		case d.Rule == Deny:
			state, by = Distrusted, d
		case n > longest:
			state, by = Trusted, d
		}
		longest = n
	}
	return state, by
}

// parents holds a folder and the folders above it.
type parents []struct {
	path string
	info os.FileInfo // nil if it does not exist
}

func parentsOf(folder string) (line parents) {
	for at := range disk.Upward(folder) {
		info, _ := os.Stat(at)
		line = append(line, struct {
			path string
			info os.FileInfo
		}{at, info})
	}
	return line
}

// find returns the length of dir's path in the line, or -1. It compares names and file identities:
// in a file system that ignores case, a folder has many names.
func (line parents) find(dir string) int {
	for _, l := range line {
		if l.path == dir || runtime.GOOS == "windows" && strings.EqualFold(l.path, dir) {
			return len(l.path)
		}
	}
	info, err := os.Stat(dir)
	for _, l := range line {
		if err == nil && l.info != nil && os.SameFile(info, l.info) {
			return len(l.path)
		}
	}
	return -1
}

// Remember writes the user's decision about a folder, given by its real path, into the list of
// folders, and preserves the rest of the list. With an empty rule it removes the entries about the
// folder. It returns the earlier entries.
func (l List) Remember(ctx context.Context, folder string, rule Rule) (was []Decision, err error) {
	if rule != "" && !utf8.ValidString(folder) {
		return nil, errors.New("the folder's name is not UTF-8, which the list of folders can't hold")
	}
	err = l.rewrite(ctx, func(b []byte, rules []Decision) ([]byte, error) {
		was = slices.DeleteFunc(rules, func(d Decision) bool { return !d.named(folder) })
		for _, d := range was {
			if d.Path == folder && rule != "" { // otherwise it is another spelling
				continue
			}
			if b, err = withRule(b, d.Path, ""); err != nil {
				return nil, err
			}
		}
		if rule == "" {
			return b, nil
		}
		return withRule(b, folder, rule)
	})
	return was, err
}

// Keep makes a folder, given by its real path, trusted from now on. It does not change a list that
// already trusts the folder.
func (l List) Keep(ctx context.Context, folder string) error {
	rules, err := l.Decisions()
	if err != nil {
		return err
	}
	if state, _ := judge(rules, folder); state == Trusted {
		return nil
	}
	_, err = l.Remember(ctx, folder, Folder)
	return err
}

// named reports whether the entry names the folder, in any spelling.
func (d Decision) named(folder string) bool {
	path := filepath.Clean(d.Path)
	switch {
	case d.Path == folder:
		return true
	case !filepath.IsAbs(path):
		return false
	case d.Rule == Parent: // the folder's own place counts
		return disk.ResolveParent(path) == folder
	}
	return disk.ResolveLinks(path) == folder
}

// rewrite changes the list of folders while it holds the lock.
func (l List) rewrite(ctx context.Context, edit func([]byte, []Decision) ([]byte, error)) error {
	if l.Path == "" {
		return errors.New("no home directory, which would hold the list of folders")
	}
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return err
	}
	lock, err := project.Acquire(ctx, l.Path+".lock") // the Gemini CLI's lock
	if err != nil {
		return err
	}
	defer lock.Release()
	rules, err := l.Decisions()
	if err != nil {
		return err
	}
	old, err := jsonc.ReadFile(l.Path)
	if err != nil {
		return err
	}
	b, err := edit(old, rules)
	if err != nil || bytes.Equal(b, old) {
		return err
	}
	if !lock.Held() {
		return fmt.Errorf("%s.lock was removed by another program", l.Path)
	}
	return disk.Replace(l.Path, b, 0o600)
}

// withRule returns the text of a list of folders with a single rule about the folder, or with none
// if the rule is "".
func withRule(b []byte, folder string, rule Rule) ([]byte, error) {
	name := []string{folder}
	d, err := jsonc.Parse("", b)
	if err != nil {
		return nil, err
	}
	if twice := func(path []string) bool { return path[0] == folder }; rule == "" ||
		slices.ContainsFunc(d.Twice, twice) {
		if b, err = jsonc.Unset(b, name); err != nil || rule == "" {
			return b, err
		}
	}
	return jsonc.Set(b, name, rule)
}
