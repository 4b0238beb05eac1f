package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings/trust"
	"gemline/tools/edit"
	"gemline/tools/source"
	"gemline/tools/worktree"
)

// The repository of the published workflows, and its folders.
const (
	workflowsRepository = "google-github-actions/run-gemini-cli"
	workflowsFolder     = "examples/workflows"
)

var workflowsWanted = []string{"gemini-dispatch", "gemini-assistant", "issue-triage", "pr-review"}

// workflowsPlaces are the directories of files, by suffix.
var workflowsPlaces = map[string]string{".yml": ".github/workflows", ".yaml": ".github/workflows",
	".toml": ".github/commands"}

// workflowsIgnored are the lines of .gitignore for files that workflows write and that must not be
// committed.
var workflowsIgnored = []string{".gemini/", "gha-creds-*.json"}

// The timeout of requests to GitHub, and the size limit of a file.
const (
	workflowsPatience = time.Minute
	workflowsMost     = 1 << 20
)

type setupGitHub struct {
	Yes bool `aliases:"consent" help:"Write the files, and don't ask."`
}

// A workflowFile is a file to be written, with its content before and after.
type workflowFile struct {
	name  string // below the repository's directory, with slashes
	was   []byte
	info  fs.FileInfo // nil if the file does not exist
	fresh string
}

// Run shows the files and writes them after the user's consent.
func (c *setupGitHub) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, hub hub) error {
	github, top, repository, err := githubRepository(ctx, here, hub)
	if err != nil {
		return err
	}
	tag, files, err := workflows(ctx, github)
	if err != nil {
		return &input.Error{Message: fmt.Sprintf("the workflows can't be had, and nothing is changed: %v", err),
			Advice: "try again when it answers; a proxy is named by HTTPS_PROXY, another server by GITHUB_API_URL, and GITHUB_TOKEN lifts GitHub's limits"}
	}
	dir, err := disk.OpenDir(top)
	if err != nil {
		return err
	}
	defer dir.Close()
	all, err := wanted(dir, files)
	if err != nil {
		return fmt.Errorf("nothing is changed: %w", err)
	}
	names := lists.Map(all, func(f workflowFile) string { return f.name })
	report := map[string]any{"repository": repository, "release": tag, "files": names, "written": false}
	if len(all) == 0 {
		return out.show(report, "the workflows of "+workflowsRepository+" "+tag+" are there, as they were published")
	}
	if err := out.showWorkflows(all, fmt.Sprintf("workflows of %s %s, for %s, to be written in %s:",
		workflowsRepository, tag, repository, top)); err != nil {
		return err
	}
	// Without a user, only yolo writes without a question.
	unasked := ask.Confirm == nil && ask.In == nil && here.Flags != nil && here.Flags.Mode() == "yolo"
	if yes := c.Yes || unasked; !yes {
		if yes, err = ask.confirm(ctx, fmt.Sprintf("write these %d files?", len(all))); err != nil || !yes {
			return cmp.Or(err, error(&input.Error{Message: "nothing is written"}))
		}
	}
	for _, f := range all {
		if err := f.write(dir); err != nil {
			return fmt.Errorf("%s can't be written: %w", f.name, err)
		}
	}
	report["written"] = true
	report["secrets"] = github.Site() + "/" + repository + "/settings/secrets/actions"
	lines := []string{fmt.Sprintf("%d files written in %s", len(all), top), "What is left to do:",
		"  1. give the workflows a key: a secret GEMINI_API_KEY in " + fmt.Sprint(report["secrets"]),
		"  2. look at the files, commit and push them",
		"  3. what can be set is in " + github.Site() + "/" + workflowsRepository + "/blob/" + tag +
			"/README.md#quick-start"}
	return out.show(report, lines...)
}

// githubRepository returns the current git repository and its name on GitHub. The folder must be
// trusted before git reads it.
func githubRepository(ctx context.Context, here *Folder, hub hub) (github source.Hub, top, repository string, err error) {
	top, _, why := worktree.FindTree(here.Paths.Cwd)
	if top == "" {
		return github, "", "", &input.Error{Message: "there are no workflows without a git repository of GitHub's, and " + cmp.Or(why, "this folder is in no git repository"),
			Advice: "go to one, or make one: git init, then git remote add origin https://github.com/OWNER/NAME"}
	}
	for _, folder := range []string{here.Paths.Cwd, top} {
		if t, err := here.trust(folder); err != nil || t.State < trust.Unneeded {
			return github, "", "", cmp.Or(err, error(&input.Error{Message: text.PrintableLine(folder) +
				" is not trusted, so nothing is set up in it",
				Advice: "gemline trust add, in that folder, trusts it"}))
		}
	}
	if github, err = hub(); err == nil {
		repository, err = github.Remote(ctx, top)
	}
	if err == nil && repository == "" {
		err = &input.Error{Message: fmt.Sprintf("no remote of %s is a repository on %s",
			text.PrintableLine(top), github.Site()),
			Advice: "git remote add origin " + github.Site() +
				"/OWNER/NAME names one; GITHUB_SERVER_URL names another server of GitHub's"}
	}
	return github, top, repository, err
}

// wanted returns the files whose content must change, with .gitignore.
func wanted(dir *disk.Dir, files []workflowFile) (all []workflowFile, err error) {
	for _, f := range append(files, workflowFile{name: ".gitignore"}) {
		if f.was, f.info, err = existing(dir, f.name); err != nil {
			return nil, err
		}
		if f.name == ".gitignore" {
			f.fresh = ignoring(string(f.was))
		}
		if f.info == nil || string(f.was) != f.fresh {
			all = append(all, f)
		}
	}
	return all, nil
}

// showWorkflows shows the files to be written.
func (out *Output) showWorkflows(all []workflowFile, title string) error {
	beside := out.beside()
	if err := beside.lines([]string{title}); err != nil {
		return err
	}
	for _, f := range all {
		old := "/dev/null"
		if f.info != nil {
			old = "a/" + f.name
		}
		diff, _ := edit.Diff(old, "b/"+f.name, string(f.was), f.fresh)
		if _, err := fmt.Fprint(beside.Out, output.Escape(diff)); err != nil {
			return err
		}
	}
	return nil
}

// workflows returns the files of the latest release, sorted by name.
func workflows(ctx context.Context, hub source.Hub) (tag string, all []workflowFile, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, workflowsPatience,
		fmt.Errorf("no answer within %v", workflowsPatience))
	defer cancel()
	r, err := hub.Release(ctx, workflowsRepository, "", false)
	if err != nil {
		return "", nil, fmt.Errorf("the latest release of %s: %w", workflowsRepository, cmp.Or(context.Cause(ctx), err))
	}
	temp, err := os.MkdirTemp("", "gemline-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(temp)
	at := filepath.Join(temp, "new")
	r.Assets = nil // the workflows are in the source archive
	if err := hub.Download(ctx, r, at); err != nil {
		return "", nil, fmt.Errorf("release %s of %s: %w", text.PrintableLine(r.Tag),
			workflowsRepository, cmp.Or(context.Cause(ctx), err))
	}
	for _, folder := range workflowsWanted {
		entries, err := os.ReadDir(filepath.Join(at, workflowsFolder, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
		for _, e := range entries {
			place := workflowsPlaces[filepath.Ext(e.Name())]
			if place == "" || !e.Type().IsRegular() {
				continue
			}
			b, err := disk.Read(filepath.Join(at, workflowsFolder, folder, e.Name()), workflowsMost)
			if err != nil {
				return "", nil, err
			}
			all = append(all, workflowFile{name: path.Join(place, e.Name()), fresh: string(b)})
		}
	}
	slices.SortFunc(all, func(a, b workflowFile) int { return strings.Compare(a.name, b.name) })
	for i, f := range all {
		if i > 0 && disk.SameName(f.name, all[i-1].name) {
			return "", nil, fmt.Errorf("release %s has two files %s", text.PrintableLine(r.Tag), text.PrintableLine(f.name))
		}
	}
	if len(all) == 0 {
		return "", nil, fmt.Errorf("release %s of %s has none in %s", text.PrintableLine(r.Tag),
			workflowsRepository, workflowsFolder)
	}
	return r.Tag, all, nil
}

// existing returns a file's content and properties, nil if it does not exist.
func existing(dir *disk.Dir, name string) ([]byte, fs.FileInfo, error) {
	f, info, err := dir.File(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := disk.ReadOpen(f, workflowsMost)
	return b, info, err
}

// ignoring adds the missing lines to the text of .gitignore.
func ignoring(was string) string {
	there := map[string]bool{}
	for line := range strings.Lines(was) {
		there[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	now := was
	for _, line := range workflowsIgnored {
		if there[strings.Trim(line, "/")] {
			continue
		}
		if now != "" && !strings.HasSuffix(now, "\n") {
			now += "\n"
		}
		now += line + "\n"
	}
	return edit.KeepEndings(was, now)
}

// write writes the file.
func (f workflowFile) write(dir *disk.Dir) error {
	name := filepath.FromSlash(f.name)
	at, leave, err := dir.Make(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer leave(false)
	fresh, err := (*disk.Ledger)(nil).CreateIn(at, filepath.Join(dir.Path(), filepath.Dir(name)), f.info)
	if err != nil {
		return err
	}
	defer fresh.Discard()
	if _, err := fresh.Write([]byte(f.fresh)); err != nil {
		return err
	}
	return fresh.Commit(filepath.Base(name))
}
