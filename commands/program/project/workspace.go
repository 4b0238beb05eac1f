package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/settings/trust"
	"gemline/tools/workspace"
)

// UserContextFile returns the user's context file for all projects, "" without a home directory.
func UserContextFile(o *Options) string { return o.Paths.User(memory.DefaultName) }

// NewWorkspace returns the workspace of the working directory and the directories that the settings
// add. Its stored state is at temp.
func NewWorkspace(o *Options, temp string, over *workspace.Overlay, notify func(string)) (*workspace.Workspace, error) {
	ws, err := workspace.New(workspace.Config{Roots: []string{o.Paths.Cwd}, Temp: temp, File: UserContextFile(o),
		Overlay: over, Editor: o.User.Editor, Ledger: o.Ledger, Secrets: userDirs{o}.secretPaths,
		Charsets: Charsets(o), RespectGit: o.Settings.RespectGit, RespectGemini: o.Settings.RespectGemini, IgnoreFiles: o.Settings.IgnoreFiles})
	if err != nil {
		return nil, err
	}
	for _, dir := range o.Settings.IncludeDirs {
		err := checkProjectDir(o, dir)
		if err == nil {
			err = addDirectory(o, ws, dir)
		}
		if err != nil {
			notify(err.Error())
		}
	}
	return ws, nil
}

// addDirectory adds a directory to the workspace.
func addDirectory(o *Options, ws *workspace.Workspace, dir string) error {
	err := ws.Add(o.Paths.Folder(dir))
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) { // the name of the system call means nothing to a user
		err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return notAdded(err)
}

// notAdded wraps the error of adding a directory to the workspace.
func notAdded(err error) error {
	if err != nil {
		err = fmt.Errorf("the directory is not added: %w", err)
	}
	return err
}

// checkProjectDir returns an error for a directory with secrets of the user that only the project's
// settings add. A user who trusts a project may not have read all its settings.
func checkProjectDir(o *Options, dir string) error {
	if slices.Contains(o.userSettings.IncludeDirs, dir) {
		return nil
	}
	path := o.Paths.Folder(dir)
	homes := o.Paths.Homes()
	secret := slices.Concat(userDirs{o}.hidden(), homes, []string{o.Paths.User()})
	i := slices.IndexFunc(secret, func(at string) bool {
		return at != "" && (disk.Inside(path, o.Paths.Folder(at)) || !slices.Contains(homes, at) &&
			disk.Inside(o.Paths.Folder(at), path))
	})
	if i < 0 {
		return nil
	}
	return notAdded(fmt.Errorf("%s: a project can't add it, since %s is private; gemline --include-directories can", text.PrintableLine(path), text.PrintableLine(secret[i])))
}

// NewMemory returns the memory that holds the context files of ws. The directory's stored state is
// at temp.
func NewMemory(o *Options, ws *workspace.Workspace, temp string, warn func(string)) *memory.Memory {
	cfg := memory.Config{User: o.Paths.User(), Names: o.Settings.FileNames,
		Roots: func() []string { // the trusted roots
			if o.Trust.State < trust.Unneeded {
				return nil
			}
			roots := ws.Roots()
			if !o.Settings.IncludeMemory {
				roots = roots[:1]
			}
			denied := func(dir string) bool { return dir != roots[0] && trust.Folders(o.Paths, o.Env.Lookup).Denied(dir) }
			return slices.DeleteFunc(slices.Clone(roots), denied)
		},
		OwnedByOther: func(path string) string { return disk.OwnedByOther(path, o.Paths.Cwd) },
		Undecided:    func() bool { return o.Trust.State == trust.Unneeded },
		Markers:      append([]string{}, o.Settings.Markers...), // an empty list is not the default
		Flat:         o.Settings.ImportFormat == "flat", Withheld: workspace.IsWithheld, Ledger: o.Ledger,
		Charsets: Charsets(o), Warn: warn}
	if temp != "" {
		cfg.Private = filepath.Join(temp, "memory")
	}
	if o.Settings.Extensions {
		cfg.Extensions = func() (files []memory.Extra, warnings []string) {
			list, warnings := o.InstalledExtensions()
			for _, x := range list {
				for _, path := range x.Contents.ContextFiles {
					if x.Active {
						files = append(files, memory.Extra{Path: path, Within: x.Dir})
					}
				}
			}
			return files, warnings
		}
	}
	return memory.New(cfg)
}

// GuardedFiles returns the files whose edits need approval, among them files with the given names.
// The directory's stored state is at temp.
func GuardedFiles(o *Options, roots func() []string, temp string, names []string) policy.GuardedFiles {
	g := policy.GuardedFiles{Names: names, Roots: roots, Own: append(namedConfig(o), o.Paths.Workspace())}
	if o.consents != nil {
		g.Agreed = func() []string { return o.consents.guardedPaths(roots()) }
	}
	if o.Paths.Home != "" {
		g.Own, g.Except = append(g.Own, o.Paths.User(), disk.ResolveLinks(UserContextFile(o))), []string{o.Paths.User("tmp")}
		g.State = []string{"background-processes", "unfinished", "*/chats", "*/batches", "*/logs.json", "*/shell_history", "*/.project_root", "*/a2a", "*/plans.txt", "*/sockets", "*/mcp"}
	}
	g.Programs = lists.Filter(filepath.SplitList(o.Env.Getenv("PATH")), filepath.IsAbs)
	if temp != "" {
		g.Notes = []string{filepath.Join(temp, "memory")}
	}
	for _, x := range o.ActiveExtensions() {
		if !x.Linked { // it lies in the user's directory
			continue
		}
		for _, path := range append(x.Contents.ContextFiles, x.ConfigPaths()...) {
			g.Notes = append(g.Notes, disk.ResolveLinks(path))
		}
	}
	return g
}
