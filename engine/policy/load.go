package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Source is a file of rules, or a directory, in which all files with names in .toml count.
type Source struct {
	Path     string
	Tier     Tier
	Required bool // it was named explicitly and must exist

	// WorldWritable says why another user may have written a path, "" if no other user can. Such
	// files are skipped. Nil skips no file.
	WorldWritable func(path string) string
}

// Load reads the rules of all sources. If a file can't be parsed, its readable denials count, and
// every call is asked about. The error, a [FileError], is about a file of the administrator, or a
// source that must exist. Warnings are about skipped files, and about rules that are not
// understood.
func Load(sources []Source) (rules []Rule, warnings []string, err error) {
	for _, src := range sources {
		files, err := src.files()
		if err != nil {
			return nil, warnings, err
		}
		for _, path := range files {
			if src.WorldWritable != nil {
				if why := src.WorldWritable(path); why != "" {
					warnings = append(warnings, fmt.Sprintf("%s is passed over: %s", oneLine(path), oneLine(why)))
					continue
				}
			}
			file, err := disk.Read(path, maxFile)
			if err != nil {
				err = unread(path, err)
			}
			var some []Rule
			var more []string
			if err == nil {
				some, more, err = Parse(path, src.Tier, file)
			}
			switch {
			case err != nil && src.Tier == Extension: // a broken extension must not block the user
				warnings = append(warnings, fmt.Sprintf("rules of an extension are not used: %s", oneLine(err.Error())))
				continue
			case err != nil && src.Tier == Admin:
				return nil, warnings, err
			case err != nil:
				some, more = denials(path, src.Tier, file), []string{err.Error() + "; every call is asked about until the file is mended"}
			}
			rules, warnings = append(rules, some...), append(warnings, more...)
		}
	}
	return rules, warnings, nil
}

// tableStart matches the line that a rule begins with.
var tableStart = text.Pattern(`(?m)^[ \t]*\[\[rule\]\]`)

// denials returns the rules of a file that can't be parsed as a whole: the denials that can be
// parsed alone, and a rule that asks about every call.
func denials(path string, tier Tier, file []byte) (rules []Rule) {
	starts := append(tableStart().FindAllIndex(file, -1), []int{len(file)})
	for i, at := range starts[:len(starts)-1] {
		before := bytes.Repeat([]byte("\n"), bytes.Count(file[:at[0]], []byte("\n"))) // so that lines keep their numbers
		some, _, _ := Parse(path, tier, append(before, file[at[0]:starts[i+1][0]]...))
		rules = append(rules, slices.DeleteFunc(some, func(r Rule) bool { return r.Verdict != engine.Deny })...)
	}
	return append(rules, Rule{Tier: tier, Origin: Origin{File: path}, Tools: []string{"*"}, Verdict: engine.Ask, Priority: maxPriority})
}

// Exists reports whether src has a file of rules that is not skipped.
func (src Source) Exists() bool {
	files, err := src.files()
	return err == nil && slices.ContainsFunc(files,
		func(path string) bool { return src.WorldWritable == nil || src.WorldWritable(path) == "" })
}

// files returns the files to read, including files that will be skipped.
func (src Source) files() ([]string, error) {
	info, err := os.Stat(src.Path)
	switch {
	case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && !src.Required:
		return nil, nil
	case err != nil:
		return nil, unread(src.Path, err)
	case !info.IsDir() && !strings.HasSuffix(src.Path, ".toml"):
		return nil, &FileError{Path: src.Path, Message: "is not a file of rules: its name does not end in .toml"}
	case !info.IsDir():
		return []string{src.Path}, nil
	}
	if src.WorldWritable != nil && src.WorldWritable(src.Path) != "" {
		return []string{src.Path}, nil // to be reported as a whole
	}
	entries, err := os.ReadDir(src.Path)
	if err != nil {
		return nil, unread(src.Path, err)
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".") && !e.IsDir() {
			files = append(files, filepath.Join(src.Path, name))
		}
	}
	slices.Sort(files)
	return files, nil
}

// unread is the error of a file that can't be read.
func unread(path string, err error) error {
	return &FileError{Path: path, Message: "can't be read, and the rules in it would not hold: " +
		oneLine(disk.Cause(err).Error())}
}
