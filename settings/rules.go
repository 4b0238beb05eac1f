package settings

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
)

// A Rule is what the user decided about a folder and all below it.
type Rule string

// The rules, as the file has them. TrustParent is about the folder above.
const (
	TrustFolder Rule = "TRUST_FOLDER"
	TrustParent Rule = "TRUST_PARENT"
	DoNotTrust  Rule = "DO_NOT_TRUST"
)

// A Decision is an entry in the list of folders.
type Decision struct {
	Path string `json:"path"`
	Rule Rule   `json:"rule"`
}

// About returns the real path of the folder that the rule is about.
func (d Decision) About() string {
	path := filepath.Clean(d.Path)
	if d.Rule == TrustParent {
		path = filepath.Dir(path)
	}
	return disk.Follow(path)
}

// TrustFile returns the path of the list of folders, "" if there is no home
// directory to hold it.
func (p Paths) TrustFile(lookup func(string) (string, bool)) string {
	if path, _ := lookup("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); path != "" {
		return path
	}
	return p.User("trustedFolders.json")
}

// Decisions returns the list of folders, in the order of the file. The error
// is a [jsonc.Error].
func (p Paths) Decisions(lookup func(string) (string, bool)) ([]Decision, error) {
	return readRules(p.TrustFile(lookup))
}

// readRules reads the list of folders. One that others may write, or that
// says something that is no rule, is refused as a whole. Of a folder that is
// named twice, both rules are there.
func readRules(path string) ([]Decision, error) {
	b, err := jsonc.ReadFile(path)
	if err != nil || b == nil {
		return nil, err
	}
	if why := disk.Shared(path); why != "" {
		return nil, &jsonc.Error{Path: path, Message: why + ", so it decides nothing"}
	}
	d, err := jsonc.Parse(path, b)
	if err != nil {
		return nil, err
	}
	var rules []Decision
	for folder, v := range d.Members() {
		word, _ := v.(string)
		rule := Rule(word)
		if rule != TrustFolder && rule != TrustParent && rule != DoNotTrust {
			return nil, &jsonc.Error{Path: path, Message: fmt.Sprintf("%.200q must be %s, %s or %s, not %s", folder, TrustFolder, TrustParent, DoNotTrust, jsonc.Describe(v))}
		}
		rules = append(rules, Decision{folder, rule})
	}
	return rules, nil
}

// judge returns what the rules say about a folder, given by its real path, and
// the one that decides: that about the longest path counts, and of two about
// the same the strict one.
func judge(rules []Decision, folder string) (State, Decision) {
	state, longest, by := Unknown, -1, Decision{}
	line := ancestry(folder)
	for _, d := range rules {
		if !filepath.IsAbs(d.Path) {
			continue
		}
		n := line.find(d.About())
		if n < 0 || n < longest {
			continue
		}
		switch {
		case d.Rule == DoNotTrust:
			state, by = Distrusted, d
		case n > longest:
			state, by = Trusted, d
		}
		longest = n
	}
	return state, by
}

// A lineage is a folder and those above it.
type lineage []struct {
	path string
	info os.FileInfo // nil if it is not there
}

func ancestry(folder string) (line lineage) {
	for {
		info, _ := os.Stat(folder)
		line = append(line, struct {
			path string
			info os.FileInfo
		}{folder, info})
		up := filepath.Dir(folder)
		if up == folder {
			return line
		}
		folder = up
	}
}

// find returns the length of the path that dir has in the line, or -1. It is
// found by its name and by what it is: in a file system that does not care for
// case, one folder has many names.
func (line lineage) find(dir string) int {
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

// Remember writes what the user decided about a folder, given by its real
// path, into the list of folders, and keeps everything else in it. It says
// what stood there before.
func (p Paths) Remember(ctx context.Context, lookup func(string) (string, bool), folder string, rule Rule) (was []Decision, err error) {
	if !utf8.ValidString(folder) {
		return nil, errors.New("the folder's name is not UTF-8, which the list of folders can't hold")
	}
	err = p.rewrite(ctx, lookup, func(b []byte, rules []Decision) ([]byte, error) {
		was = slices.DeleteFunc(rules, func(d Decision) bool { return !d.named(folder) })
		for _, d := range was {
			if d.Path == folder {
				continue
			}
			if b, err = withRule(b, d.Path, ""); err != nil { // another spelling
				return nil, err
			}
		}
		return withRule(b, folder, rule)
	})
	return was, err
}

// Keep has a folder, given by its real path, trusted from now on. A list that
// says so already stays as it is.
func (p Paths) Keep(ctx context.Context, lookup func(string) (string, bool), folder string) error {
	rules, err := p.Decisions(lookup)
	if err != nil {
		return err
	}
	if state, _ := judge(rules, folder); state == Trusted {
		return nil
	}
	_, err = p.Remember(ctx, lookup, folder, TrustFolder)
	return err
}

// Forget removes what the list of folders says about a folder, given by its
// real path, and says what that was.
func (p Paths) Forget(ctx context.Context, lookup func(string) (string, bool), folder string) (was []Decision, err error) {
	err = p.rewrite(ctx, lookup, func(b []byte, rules []Decision) ([]byte, error) {
		was = slices.DeleteFunc(rules, func(d Decision) bool { return !d.named(folder) })
		for _, d := range was {
			if b, err = withRule(b, d.Path, ""); err != nil {
				return nil, err
			}
		}
		return b, nil
	})
	return was, err
}

// named reports whether the entry names the folder, in whatever spelling.
func (d Decision) named(folder string) bool {
	path := filepath.Clean(d.Path)
	switch {
	case d.Path == folder:
		return true
	case !filepath.IsAbs(path):
		return false
	case d.Rule == TrustParent: // what matters is where the folder stands
		return filepath.Join(disk.Follow(filepath.Dir(path)), filepath.Base(path)) == folder
	}
	return disk.Follow(path) == folder
}

// rewrite changes the list of folders, while no other program does.
func (p Paths) rewrite(ctx context.Context, lookup func(string) (string, bool), edit func([]byte, []Decision) ([]byte, error)) error {
	path := p.TrustFile(lookup)
	if path == "" {
		return errors.New("no home directory, which would hold the list of folders")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	l, err := lockRegistry(ctx, path+".lock") // as the Gemini CLI does
	if err != nil {
		return err
	}
	defer l.release()
	rules, err := readRules(path)
	if err != nil {
		return err
	}
	old, err := jsonc.ReadFile(path)
	if err != nil {
		return err
	}
	b, err := edit(old, rules)
	if err != nil || bytes.Equal(b, old) {
		return err
	}
	if !l.held() {
		return fmt.Errorf("%s.lock was removed by another program", path)
	}
	return disk.Replace(path, b, privateFile)
}

// withRule returns the text of a list of folders with a rule in it, once, or
// without any about the folder if the rule is "".
func withRule(b []byte, folder string, rule Rule) ([]byte, error) {
	name := []string{folder}
	d, err := jsonc.Parse("", b)
	if err != nil {
		return nil, err
	}
	if twice := func(path []string) bool { return path[0] == folder }; rule == "" || slices.ContainsFunc(d.Twice, twice) {
		if b, err = jsonc.Unset(b, name); err != nil || rule == "" {
			return b, err
		}
	}
	return jsonc.Set(b, name, rule)
}
