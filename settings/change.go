package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gemline/engine/disk"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

// A Change is a change of a key in a file.
type Change struct {
	Path      string // the file, symbolic links resolved
	Before    any    // the value before, as in the file; nil without one
	HadValue  bool   // whether there was a value
	Unchanged bool   // the file already had the value

	// Older are older names that the file also has, of the key or of keys below it. They have no
	// effect once the key itself is set.
	Older []string

	// PassedOver says why the file is not used: somebody other than the administrator may have
	// written it.
	PassedOver string
}

// SetKey sets a key in the file, and changes nothing else in it.
func (src Source) SetKey(ctx context.Context, key string, value any) (Change, error) {
	return src.change(ctx, key, func(text []byte,
		path []string) ([]byte, error) {
		return jsonc.Set(text, path, value)
	})
}

// UnsetKey removes a key from the file, and changes nothing else in it. A missing key is no error,
// and a missing file is not created.
func (src Source) UnsetKey(ctx context.Context, key string) (Change, error) {
	if _, err := os.Stat(src.Path); errors.Is(err, fs.ErrNotExist) && src.Path != "" {
		return Change{Path: src.Path, Unchanged: true}, nil
	}
	return src.change(ctx, key, jsonc.Unset)
}

func (src Source) change(ctx context.Context, key string, edit func([]byte, []string) ([]byte, error)) (Change, error) {
	path, err := SplitKey(key)
	if err != nil {
		return Change{}, &flags.UsageError{Message: err.Error()}
	}
	c := Change{Path: src.Path}
	if src.Path != "" {
		c.Path = disk.ResolveLinks(src.Path)
	}
	folder := disk.ResolveLinks(filepath.Dir(filepath.Dir(src.Path)))
	if src.Scope == Workspace && !disk.Inside(folder, c.Path) {
		return c, &jsonc.Error{Path: src.Path,
			Message: fmt.Sprintf("leads out of the folder, to %s, and is left alone", c.Path)}
	}
	mode := privateFile
	if src.Guarded {
		mode = publicFile
	}
	err = save(ctx, c.Path, mode, func(text []byte) ([]byte, error) {
		c.inspect(path, text)
		after, err := edit(text, path)
		if err != nil {
			return nil, &jsonc.Error{Path: c.Path, Message: err.Error()}
		}
		c.Unchanged = string(after) == string(text)
		return after, nil
	})
	if src.Guarded && err == nil {
		c.PassedOver = disk.WorldWritable(src.Path)
	}
	return c, err
}

// inspect finds the values of the key at path in the text.
func (c *Change) inspect(path []string, text []byte) {
	d, err := jsonc.Parse(c.Path, text)
	if err != nil {
		return // the caller has parsed it without error
	}
	tree := d.Tree
	c.Before, c.HadValue = at(tree, path)
	if !c.HadValue {
		setPath(tree, path, true) // set the key, so that migrate finds its older names
	}
	for _, m := range migrate(tree) {
		if starts(path, m.to) || starts(m.to, path) {
			c.Older = append(c.Older, JoinKey(m.from))
		}
	}
}

// CurrentName returns the current name of a key, if name is an older one.
func CurrentName(name string) (string, bool) {
	path, err := SplitKey(name)
	if err != nil {
		return "", false
	}
	for _, v := range []any{"", true, []any{}} { // some older names are only for values of a type
		tree := map[string]any{}
		setPath(tree, path, v)
		if moves := migrate(tree); len(moves) > 0 {
			return JoinKey(moves[len(moves)-1].to), true
		}
	}
	return "", false
}
