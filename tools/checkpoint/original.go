package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"

	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/tools/checkpoint/shadow"
)

// Original returns what has to be done for the files to be as they are in a commit of the
// repository that the Gemini CLI keeps of them: what it does not have is deleted, if it is
// kept here. Nobody knows who has changed them since, so all of them are others' changes.
func (k *Keeper) Original(ctx context.Context, commit string) (p *Plan, err error) {
	p = &Plan{Kind: Undone}
	sum, err := shadow.ParseSum(commit)
	if err != nil {
		return nil, err
	}
	theirs, err := shadow.Open(filepath.Join(filepath.Dir(k.cfg.Dir), ".git"), len(sum))
	if err != nil {
		return nil, fmt.Errorf("the files of that checkpoint are not there: %w", err)
	}
	defer theirs.Close()
	c, err := theirs.Commit(sum)
	if err != nil {
		return nil, err
	}
	kept, err := compare(theirs, "", c.Tree)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	done, err := k.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, s, err := k.take(ctx, true, nil)
	if err != nil {
		return nil, err
	}
	if err := s.batch.Commit(); err != nil {
		return nil, err
	}
	there, err := compare(k.repo, "", tree)
	if err != nil {
		return nil, err
	}
	root, goals := k.cfg.Workspace.Roots()[0], map[string]*goal{}
	for _, is := range there {
		if !is.After.dir() && disk.Inside(root, is.Path) {
			goals[is.Path] = &goal{have: is.After, mixed: true}
		}
	}
	b := k.repo.Begin()
	for _, c := range kept {
		path := filepath.Join(root, c.Path)
		if c.After.dir() || secret.Path(k.cfg.Workspace.Rel(path)) {
			continue
		}
		content, err := theirs.Read(shadow.Blob, c.After.Sum, k.cfg.Limits.File)
		if err != nil {
			return nil, err
		}
		g := goals[path]
		if g == nil {
			g = &goal{mixed: true}
			goals[path] = g
		}
		if g.want.Sum, err = b.Add(shadow.Blob, content); err != nil {
			return nil, err
		}
		if g.want.Mode = c.After.Mode; g.have.There() && g.have.Mode.Type() == g.want.Mode.Type() &&
			(g.have.Mode^g.want.Mode)&0o100 == 0 {
			g.want.Mode = g.have.Mode // of which git keeps one bit
		}
		if g.want == g.have {
			delete(goals, path)
		}
	}
	if err := b.Commit(); err != nil {
		return nil, err
	}
	return p, k.fill(p, goals)
}
