// Package consent stores what the user has allowed folders to run. A first caller finds the files
// of a command with [Start.Find], makes their [Fingerprint], and looks it up in the [Record].
//
// # Consent is for exact contents
//
// A consent belongs to a [Fingerprint]: of the words of a command, and of the project's files that
// the command runs or names, found by [Start.Find]. A change of one byte invalidates the consent.
//
// # A doubtful record grants nothing
//
// A record that others may write, or that can't be read, has no consents.
package consent

import (
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
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/settings/project"
)

// Rights are the rights of a program of a folder. The zero Rights mean that the user was not asked.
type Rights string

// The values of Rights.
const (
	None     Rights = "none"     // it does not run
	Confined Rights = "confined" // the rights of the model's commands
	All      Rights = "all"      // the user's
)

// A Record is the file of all consents. Its zero value stores none.
type Record struct{ Path string }

// RecordOf returns the record of a user, beside the list of trusted folders.
func RecordOf(p project.Paths) Record { return Record{p.User("gemline", "consents.json")} }

// Rights returns the rights given in a folder, by fingerprint. Before reports whether there are
// fingerprints of an earlier form.
func (r Record) Rights(folder string) (given map[string]Rights, before bool, err error) {
	all, err := r.read()
	given = all[folder]
	n := len(given)
	maps.DeleteFunc(given, earlier)
	return given, len(given) < n, err
}

// earlier reports whether a fingerprint has an earlier form.
func earlier(print string, _ Rights) bool { return !strings.HasPrefix(print, form) }

// read returns the consents of all folders.
func (r Record) read() (all map[string]map[string]Rights, err error) {
	all = map[string]map[string]Rights{}
	b, err := os.ReadFile(r.Path)
	if r.Path == "" || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if why := disk.WritableByOthers(r.Path); why != "" {
		return all, fmt.Errorf("%s: %s, so it holds no agreement", r.Path, why)
	}
	if err = json.Unmarshal(b, &all); err == nil && all == nil {
		err = errors.New("it holds no object")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	return all, nil
}

// Store adds the rights given in a folder.
func (r Record) Store(ctx context.Context, folder string, given map[string]Rights) error {
	if r.Path == "" {
		return errors.New("no home directory, which would hold it")
	}
	return r.change(ctx, func(all map[string]map[string]Rights) {
		if all[folder] == nil {
			all[folder] = map[string]Rights{}
		}
		maps.DeleteFunc(all[folder], earlier)
		maps.Copy(all[folder], given)
	})
}

// Forget removes the rights given in a folder and below it, and returns the folders that had any.
func (r Record) Forget(ctx context.Context, folder string) (had []string, err error) {
	all, err := r.read()
	for at := range all {
		if disk.Inside(folder, at) {
			had = append(had, at)
		}
	}
	slices.Sort(had)
	if err != nil || len(had) == 0 {
		return nil, err
	}
	return had, r.change(ctx, func(all map[string]map[string]Rights) {
		maps.DeleteFunc(all, func(at string, _ map[string]Rights) bool { return disk.Inside(folder, at) })
	})
}

// change changes the file.
func (r Record) change(ctx context.Context, edit func(all map[string]map[string]Rights)) error {
	return disk.Change(ctx, r.Path, 0o600, func() ([]byte, error) {
		all, err := r.read()
		if err != nil {
			return nil, err
		}
		edit(all)
		b, err := json.MarshalIndent(all, "", "  ")
		return append(b, '\n'), err
	})
}

// form begins each fingerprint. Fingerprints without it cover less of the program.
const form = "2-"

// Fingerprint returns a hash of parts and of the contents of files.
func Fingerprint(files []string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	for _, name := range files {
		sum := sha256.New()
		f, err := os.Open(name)
		if err == nil {
			_, err = io.Copy(sum, f)
			f.Close()
		}
		fmt.Fprintf(h, "%q %v %x\n", name, err != nil, sum.Sum(nil))
	}
	return form + hex.EncodeToString(h.Sum(nil))
}
