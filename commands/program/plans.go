package program

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands"
	"gemline/engine/disk"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/tools/plan"
)

// newPlans returns the plans of the conversation, nil if none are kept.
func (s *Session) newPlans() *plan.Folder {
	dir := s.planDir()
	if dir == "" || !s.opts.Settings.PlanMode {
		return nil
	}
	made := ""
	if s.project.store.Temp != "" && !s.Trial {
		made = filepath.Join(s.project.store.Temp, "plans.txt")
	}
	return &plan.Folder{Workspace: s.project.workspace, Dir: dir, Made: made, Attended: s.Approver != nil,
		Planning: func() bool { return s.policy.Mode() == policy.Plan },
		Enter:    func() error { return s.setMode(policy.Plan) },
		Leave:    s.leavePlanMode,
		Modes: func() (list []plan.Mode) {
			for _, m := range s.modesAfterPlan() {
				list = append(list, plan.Mode{Name: string(m), Meaning: meanings[m]})
			}
			return list
		},
	}
}

// planDir returns the folder of the plans: a folder in the project that the settings name,
// or else the last extension with such a folder; otherwise a folder of the session, or "" if
// the session has none.
func (s *Session) planDir() string {
	dir, whose := s.opts.Settings.PlanDir, "general.plan.directory"
	if dir == "" {
		for _, x := range slices.Backward(s.opts.Active()) {
			if x.PlanDir != "" {
				dir, whose = x.PlanDir, "plan.directory of the extension "+x.Name
			}
		}
	}
	if dir != "" {
		root := s.project.workspace.Roots()[0]
		at := filepath.Join(root, dir)
		if filepath.IsLocal(dir) && at != root && holdsPlans(dir) && !s.keepsState(at) && disk.Follow(at) == at {
			return at
		}
		s.notify(fmt.Sprintf("%s: %s is no folder in the project, or a hidden one, and none for plans below .gemini; "+
			"plans are kept with the session", whose, text.EscapeLine(dir)))
	}
	if temp := s.project.workspace.Temp(); temp != "" {
		return filepath.Join(temp, s.journal.ID(), "plans")
	}
	return ""
}

// readLater are the folders below .gemini whose files steer sessions to come.
var readLater = []string{"agents", "commands", "extensions", "hooks", "policies", "skills", "worktrees"}

// holdsPlans reports whether a folder of the project may hold plans: one that is not hidden, or
// one below .gemini in which nothing is looked for.
func holdsPlans(dir string) bool {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	if parts[0] == ".gemini" && len(parts) > 1 {
		isRead := func(name string) bool { return strings.EqualFold(name, parts[1]) }
		if slices.ContainsFunc(readLater, isRead) {
			return false
		}
		parts = parts[1:]
	}
	return !slices.ContainsFunc(parts, func(name string) bool { return strings.HasPrefix(name, ".") })
}

// keepsState reports whether gemline keeps its own state in a folder, as where the project is
// the user's home.
func (s *Session) keepsState(dir string) bool {
	return slices.ContainsFunc([]string{"tmp", "history", "gemline"}, func(name string) bool {
		own := s.opts.Paths.User(name)
		return s.opts.Paths.Home != "" && (dir == own || strings.HasPrefix(dir, own+string(filepath.Separator)))
	})
}

// modesAfterPlan returns the approval mode that plan mode was entered from, and the others
// that may follow it. It is never yolo that nobody watches.
func (s *Session) modesAfterPlan() []policy.Mode {
	before := s.policy.Before()
	if s.mayUse(before) != nil || before == policy.Yolo && s.Approver == nil {
		before = policy.Default
	}
	list := []policy.Mode{before}
	for _, m := range []policy.Mode{policy.Default, policy.AutoEdit, policy.Auto} {
		if m != before && s.mayUse(m) == nil {
			list = append(list, m)
		}
	}
	return list
}

// leavePlanMode changes to the mode that word names among those that may follow plan mode, or
// to the first of them, and returns its name.
func (s *Session) leavePlanMode(word string) (string, error) {
	modes := s.modesAfterPlan()
	m := modes[0]
	if word != "" {
		m = policy.Mode(word)
	}
	if !slices.Contains(modes, m) {
		return "", fmt.Errorf("the approval mode %.40q can't follow plan mode here", word)
	}
	if err := s.setMode(m); err != nil {
		return "", err
	}
	s.recordPlan(m)
	return map[policy.Mode]string{
		policy.Default:  "Default mode (edits will require confirmation)",
		policy.AutoEdit: "Auto-Edit mode (edits will be applied automatically)",
		policy.Auto:     "Auto mode (what is confined and can be undone runs unasked)",
		policy.Yolo:     "YOLO mode (all tool calls auto-approved)",
	}[m], nil
}

// plan returns the plan of the conversation.
func (s *Session) plan() (p commands.Plan, err error) {
	path := s.families.Plans.Current()
	if path == "" {
		return p, nil
	}
	b, err := os.ReadFile(path)
	return commands.Plan{Path: path, Text: string(b), Approved: s.families.Plans.Approved() != ""}, err
}
