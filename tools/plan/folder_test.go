package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// planning returns plans that are kept in a folder, beside a project with a file.
func planning(t testing.TB) (p *Folder, project string) {
	t.Helper()
	top := disk.ResolveLinks(t.TempDir())
	project, temp := filepath.Join(top, "project"), filepath.Join(top, "temp")
	p = &Folder{Dir: filepath.Join(temp, "id", "plans"), Planning: func() bool { return true }}
	for _, dir := range []string{project, p.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(project, "a.md"), []byte("alpha"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{project}, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = ws
	return p, project
}

func TestPlanNames(t *testing.T) {
	p, project := planning(t)
	for to, from := range map[string]string{filepath.Join(project, "a.md"): "out.md", "plan.md": "in.md", filepath.Join(project, "b.md"): "dangling.md", project: "dir.md"} {
		if err := os.Symlink(to, filepath.Join(p.Dir, from)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink(p.Dir, filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want string // in the folder; "" if it is no plan
	}{
		{"plan.md", "plan.md"}, {"./plan.md", "plan.md"}, {"plans/plan.md", "plan.md"}, {"@plan.md", "plan.md"}, {"Plän 2.md", "Plän 2.md"},
		{filepath.Join(p.Dir, "plan.md"), "plan.md"}, {filepath.Join(project, "link", "plan.md"), "plan.md"}, {"in.md", "in.md"}, {"plan\x00.md", "plan.md"},
		{"", ""}, {".", ""}, {"..", ""}, {"plan", ""}, {"plan.MD", ""}, {"plan.md.txt", ""}, {".md", ""}, {".plan.md", ""}, {"a\nb.md", ""}, {"a\x1bb.md", ""},
		{"sub/plan.md", ""}, {"../plan.md", ""}, {"plans/../plan.md", "plan.md"}, {"plans/../../plan.md", ""}, {filepath.Join(project, "a.md"), ""}, {"/etc/plan.md", ""},
		{"out.md", ""}, {"dangling.md", ""}, {"dir.md", ""}, {"dir.md/a.md", ""},
	} {
		got, err := p.path(c.name)
		if want := filepath.Join(p.Dir, c.want); c.want != "" && (got != want || err != nil) || c.want == "" && err == nil {
			t.Errorf("%q: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	// A folder that has become a link holds no plans.
	os.Rename(p.Dir, p.Dir+"-before")
	if err := os.Symlink(project, p.Dir); err != nil {
		t.Fatal(err)
	}
	if got, err := p.path("a.md"); err == nil {
		t.Errorf("through the folder: %q", got)
	}
	if got := p.Current(); got != "" {
		t.Errorf("the plan is %q", got)
	}
}

// Whatever the model calls a plan, it is a Markdown file in the folder.
func FuzzPlanNames(f *testing.F) {
	f.Add("plans/../x.md")
	f.Add("@/etc/x.md")
	p, _ := planning(f)
	f.Fuzz(func(t *testing.T, name string) {
		if got, err := p.path(name); err == nil && (filepath.Dir(got) != p.Dir || !strings.HasSuffix(got, ".md") || strings.ContainsAny(got, "\x00\n\x1b")) {
			t.Errorf("%q is %q", name, got)
		}
	})
}

// Which plan was approved a conversation tells, as long as the file is there.
func TestPlansRestore(t *testing.T) {
	p, project := planning(t)
	plan := filepath.Join(p.Dir, "plan.md")
	os.WriteFile(plan, []byte("x"), 0o600)
	said := func(tool, text string) *genai.Content {
		return genai.NewContentFromParts([]*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: tool, Response: map[string]any{"output": text}}}}, genai.RoleUser)
	}
	approved := Approval + "Default mode.\n\n" + stored + plan + "\nRead it."
	for _, c := range []struct {
		name, want string
		history    []*genai.Content
	}{
		{"nothing", "", nil},
		{"approved", plan, []*genai.Content{said(ExitName, approved), said(ExitName, "Plan rejected. User feedback: no")}},
		{"another tool", "", []*genai.Content{said("run_shell_command", approved)}},
		{"another file", "", []*genai.Content{said(ExitName, strings.ReplaceAll(approved, plan, filepath.Join(project, "a.md")))}},
		{"gone", "", []*genai.Content{said(ExitName, strings.ReplaceAll(approved, plan, filepath.Join(p.Dir, "gone.md")))}},
	} {
		if p.Restore(c.history); p.Approved() != c.want {
			t.Errorf("%s: %q", c.name, p.Approved())
		}
	}
	if got := p.Current(); got != plan {
		t.Errorf("the plan is %q", got)
	}
	(*Folder)(nil).Restore(nil)
}

// A plan in a folder of the project that a session has written may be changed by that session,
// also without a place for notes, and by all that read the notes, also those that write there
// at once.
func TestPlansOfOthers(t *testing.T) {
	p, project := planning(t)
	made := filepath.Join(t.TempDir(), "plans.txt")
	at := func(made string) *Folder {
		return &Folder{Workspace: p.Workspace, Dir: project, Made: made, Planning: p.Planning}
	}
	if p := at(""); !p.foreign(filepath.Join(project, "a.md")) {
		t.Error("a file that was there is a plan")
	} else if p.note(filepath.Join(project, "a.md")); p.foreign(filepath.Join(project, "a.md")) {
		t.Error("a plan of this session is foreign without notes")
	}
	const sessions, plans = 8, 20
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() {
			p := at(made)
			for j := range plans {
				path := filepath.Join(project, fmt.Sprintf("%d-%d.md", i, j))
				if err := errors.Join(p.note(path), os.WriteFile(path, nil, 0o600)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	later := at(made)
	for i := range sessions {
		for j := range plans {
			if path := filepath.Join(project, fmt.Sprintf("%d-%d.md", i, j)); later.foreign(path) {
				t.Errorf("%s was forgotten", path)
			}
		}
	}
}
