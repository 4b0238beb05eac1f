package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"gemline/engine/secret"
	"gemline/tools/gitconfig"
)

// mostOriginal is how many bytes of files of the Gemini CLI are read.
const mostOriginal = 4 << 30

// RestoreCommit returns the plan that restores the files of a commit in the Gemini CLI's
// repository. Other files are deleted, if their states are stored here. Nothing records who
// has changed the files since, so all changes count as changes by others.
func (k *Keeper) RestoreCommit(ctx context.Context, commit string) (p *Plan, err error) {
	p = &Plan{Kind: Undone}
	theirs, err := originals(ctx, filepath.Join(filepath.Dir(k.cfg.Dir), ".git"), commit)
	if err != nil {
		return nil, fmt.Errorf("the files of that checkpoint are not there: %w", err)
	}
	return p, k.use(ctx, func() error { return k.bring(ctx, p, theirs) })
}

// bring adds to a plan the changes that turn the files into the originals.
func (k *Keeper) bring(ctx context.Context, p *Plan, theirs []original) error {
	changes, _, err := k.history.take(ctx, External, true, nil)
	if err != nil {
		return err
	}
	root, targets := k.cfg.Workspace.Roots()[0], map[string]*target{}
	for _, n := range k.history.top.at(root, true).files(nil) {
		targets[n.path()] = &target{before: n.version(), conflict: true}
	}
	for _, f := range theirs {
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if secret.Path(k.cfg.Workspace.Rel(path)) {
			continue
		}
		g := cmp.Or(targets[path], &target{conflict: true})
		targets[path] = g
		if g.after.Sum, err = k.history.store.add(f.content); err != nil {
			return err
		}
		if g.after.Mode = f.mode; g.before.Exists() && g.before.Mode.Type() == g.after.Mode.Type() &&
			(g.before.Mode^g.after.Mode)&0o100 == 0 {
			g.after.Mode = g.before.Mode // git stores one bit of a mode
		}
	}
	if err := k.history.commit(changes, Record{Kind: External}); err != nil {
		return err
	}
	return k.history.fill(p, targets)
}

// An original is a file that the Gemini CLI has stored.
type original struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// originals asks git for the files of a commit. It runs no hook, no filter and no monitor.
func originals(ctx context.Context, dir, commit string) (list []original, err error) {
	if b, err := hex.DecodeString(commit); err != nil || len(b) < 20 {
		return nil, fmt.Errorf("%.80q is no name of a commit", commit)
	}
	out, err := gitconfig.Output(ctx, dir, mostOriginal, nil, "ls-tree", "-rz", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var ask bytes.Buffer
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if len(words) != 3 || words[1] != "blob" { // a submodule is no blob
			continue
		}
		mode := map[string]fs.FileMode{"100755": 0o755, "120000": fs.ModeSymlink | 0o777}[words[0]]
		list = append(list, original{name: name, mode: cmp.Or(mode, 0o644)})
		fmt.Fprintln(&ask, words[2])
	}
	if out, err = gitconfig.Output(ctx, dir, mostOriginal, ask.Bytes(), "cat-file", "--batch"); err != nil {
		return nil, err
	}
	for i := range list {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		words := strings.Fields(string(head))
		size, nerr := strconv.Atoi(words[len(words)-1])
		if nerr != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git can't read %s: %s", list[i].name, head)
		}
		list[i].content, out = rest[:size], rest[size+1:]
	}
	return list, nil
}
