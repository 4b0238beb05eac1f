package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
	dirs "gemline/settings/project"
	"gemline/tools/plan"
)

// newPlans returns the plans of a session, nil if plans can't be stored. A file lists the session's
// plans if the session is recorded.
func newPlans(p *project.Project, r *Rules, session string, recorded bool) *plan.Folder {
	dir, warning := PlanDir(p.Options, p.Workspace.Roots()[0])
	if warning != "" {
		r.notify(warning)
	}
	if temp := p.Workspace.Temp(); dir == "" && temp != "" {
		dir = filepath.Join(temp, session, "plans")
	}
	if dir == "" || !p.Options.Settings.PlanMode {
		return nil
	}
	made := ""
	if recorded {
		made = filepath.Join(p.Store.Temp, "plans.txt")
	}
	return &plan.Folder{Workspace: p.Workspace, Dir: dir, Made: made, HasUser: r.hasUser,
		Planning: func() bool { return r.Policy.Mode() == policy.Plan },
		Enter:    func() error { return r.SetMode(policy.Plan) },
		Leave:    r.leavePlanMode,
		Modes: func() []plan.Mode {
			return lists.Map(r.afterPlan(), func(m policy.Mode) plan.Mode { return plan.Mode{Name: string(m), Meaning: ModeMeanings[m]} })
		},
	}
}

// PlanDir returns the folder of the plans below root: the folder in the project that the settings
// name, or the folder of the first extension with such a setting. It returns "" if the plans are
// stored with the session, with a warning if a named folder can't be used.
func PlanDir(o *project.Options, root string) (path, warning string) {
	dir, whose := o.Settings.PlanDir, "general.plan.directory"
	if dir == "" {
		for _, x := range o.ActiveExtensions() {
			if dir == "" && x.Contents.PlanDir != "" {
				dir, whose = x.Contents.PlanDir, "plan.directory of the extension "+x.Name
			}
		}
	}
	at := filepath.Join(root, dir)
	switch {
	case dir == "":
		return "", ""
	case filepath.IsLocal(dir) && at != root && holdsPlans(dir) && !keepsState(o.Paths, at) && disk.ResolveLinks(at) == at:
		return at, ""
	}
	return "", fmt.Sprintf("%s: %s is no folder in the project, or a hidden one, and none for plans below .gemini; "+
		"plans are kept with the session", whose, text.PrintableLine(dir))
}

// steeringFolders are the folders below .gemini whose files control later sessions.
var steeringFolders = []string{"agents", "commands", "extensions", "hooks", "policies", "skills", "worktrees"}

// holdsPlans reports whether a folder of the project may hold plans. The folder must be visible, or
// a folder below .gemini that gemline does not read.
func holdsPlans(dir string) bool {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	if parts[0] == ".gemini" && len(parts) > 1 {
		isRead := func(name string) bool { return strings.EqualFold(name, parts[1]) }
		if slices.ContainsFunc(steeringFolders, isRead) {
			return false
		}
		parts = parts[1:]
	}
	return !slices.ContainsFunc(parts, func(name string) bool { return strings.HasPrefix(name, ".") })
}

// keepsState reports whether a folder holds gemline's own state, for example if the project is the
// user's home.
func keepsState(paths dirs.Paths, dir string) bool {
	return slices.ContainsFunc([]string{"tmp", "history", "gemline"}, func(name string) bool {
		own := paths.User(name)
		return paths.Home != "" && (dir == own || strings.HasPrefix(dir, own+string(filepath.Separator)))
	})
}

// ReadPlan returns the plan of the conversation. The path is "" if there is no plan.
func (t *Toolbox) ReadPlan() (p commands.Plan, err error) {
	plans := t.Families.Plans
	path := plans.Current()
	if path == "" {
		return p, nil
	}
	b, err := os.ReadFile(path)
	return commands.Plan{Path: path, Text: string(b), Approved: plans.Approved() != ""}, err
}
