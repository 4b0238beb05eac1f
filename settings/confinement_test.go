package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/settings/flags"
)

// Who says what about confinement, and who has the last word.
func TestConfinement(t *testing.T) {
	const inFiles, inProject = "tools.sandbox in the settings", "the project's tools.sandbox"
	for _, test := range []struct {
		name, user, project string
		args, env           []string
		want                Confinement
	}{
		{name: "nothing", want: Confinement{}},
		{name: "switched on", user: `{"tools":{"sandbox":true}}`, want: Confinement{Word: On, By: inFiles}},
		{name: "as the Gemini CLI has it by default", user: `{"tools":{"sandbox":false}}`, want: Confinement{}},
		{name: "the same in quotes", user: `{"tools":{"sandbox":"false"}}`, want: Confinement{}},
		{name: "switched off", user: `{"tools":{"sandbox":"off"}}`, want: Confinement{Word: Off, By: inFiles}},
		{name: "by name", user: `{"tools":{"sandbox":"Docker"}}`, want: Confinement{Word: "docker", By: inFiles}},
		{name: "an older name of the key", user: `{"sandbox":"docker"}`, want: Confinement{Word: "docker", By: inFiles}},
		{name: "an object", user: `{"tools":{"sandbox":{"enabled":true,"command":"podman","image":"i","allowedPaths":["/a"],"networkAccess":true},"sandboxAllowedPaths":["/b"]}}`,
			want: Confinement{Word: "podman", By: inFiles, Image: "i", Paths: []string{"/b", "/a"}, Network: true}},
		{name: "an object without a command", user: `{"tools":{"sandbox":{"enabled":true}}}`, want: Confinement{Word: On, By: inFiles}},
		{name: "an object without a switch", user: `{"tools":{"sandbox":{"command":"podman"}}}`, want: Confinement{Word: "podman", By: inFiles}},
		{name: "an object of which nothing is used", user: `{"tools":{"sandbox":{"enabled":false,"command":"podman"}}}`, want: Confinement{}},
		{name: "the environment beats files", user: `{"tools":{"sandbox":true}}`, env: []string{"GEMINI_SANDBOX=false"}, want: Confinement{Word: Off, By: "GEMINI_SANDBOX"}},
		{name: "a flag beats the environment", env: []string{"GEMINI_SANDBOX=docker"}, args: []string{"--sandbox=off"}, want: Confinement{Word: Off, By: "--sandbox"}},
		{name: "a flag alone keeps a choice", env: []string{"GEMINI_SANDBOX=docker"}, args: []string{"-s"}, want: Confinement{Word: "docker", By: "--sandbox"}},
		{name: "a flag alone", user: `{"tools":{"sandbox":false}}`, args: []string{"-s", "word"}, want: Confinement{Word: On, By: "--sandbox"}},
		{name: "a flag alone after off", user: `{"tools":{"sandbox":"docker"}}`, env: []string{"GEMINI_SANDBOX=0"}, args: []string{"-s"}, want: Confinement{Word: "docker", By: "--sandbox"}},
		{name: "an opposite flag", args: []string{"--no-sandbox"}, want: Confinement{Word: Off, By: "--sandbox"}},
		{name: "an image of the environment", user: `{"tools":{"sandbox":{"image":"i"}}}`, env: []string{"GEMINI_SANDBOX_IMAGE=j"}, want: Confinement{By: inFiles, Image: "j"}},
		{name: "an image of the settings beats the default", user: `{"tools":{"sandbox":{"image":"i"}}}`, env: []string{"GEMINI_SANDBOX_IMAGE_DEFAULT=j"}, want: Confinement{By: inFiles, Image: "i"}},
		{name: "an image by default", env: []string{"GEMINI_SANDBOX_IMAGE_DEFAULT=j"}, want: Confinement{Image: "j"}},
		{name: "the network of the settings", user: `{"tools":{"sandboxNetworkAccess":true}}`, want: Confinement{Network: true}},

		{name: "a project switches it on", user: `{"tools":{"sandbox":false}}`, project: `{"tools":{"sandbox":true}}`, want: Confinement{Word: On, By: inProject}},
		{name: "a project in an object", project: `{"tools":{"sandbox":{"enabled":true,"command":"docker","image":"evil","allowedPaths":["/"],"networkAccess":true}}}`, want: Confinement{Word: On, By: inProject}},
		{name: "a project keeps a choice", user: `{"tools":{"sandbox":"docker"}}`, project: `{"tools":{"sandbox":true}}`, want: Confinement{Word: "docker", By: inFiles}},
		{name: "a project can't switch it off", user: `{"tools":{"sandbox":true}}`, project: `{"tools":{"sandbox":false}}`, want: Confinement{Word: On, By: inFiles}},
		{name: "nor off by a name", user: `{"tools":{"sandbox":"docker"}}`, project: `{"tools":{"sandbox":"none","sandboxAllowedPaths":["/"]}}`, want: Confinement{Word: "docker", By: inFiles}},
		{name: "nor have the network", project: `{"tools":{"sandboxNetworkAccess":true}}`, want: Confinement{}},
		{name: "but take it", user: `{"tools":{"sandboxNetworkAccess":true}}`, project: `{"tools":{"sandboxNetworkAccess":false}}`, want: Confinement{Asked: true}},
		{name: "a run without", user: `{"tools":{"sandboxNetworkAccess":true}}`, args: []string{"--no-network"}, want: Confinement{Offline: true}},
		{name: "a project that chooses only switches it on", user: `{"tools":{"sandbox":false}}`, project: `{"tools":{"sandbox":"docker"}}`, want: Confinement{Word: On, By: inProject}},
		{name: "a project insists", project: `{"security":{"toolSandboxing":true}}`, want: Confinement{Word: On, By: "security.toolSandboxing", Firm: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := confinementOf(t, test.user, test.project, test.args, test.env)
			if err != nil {
				t.Fatal(err)
			}
			file := map[string]string{inFiles: "user", inProject: "project"}[got.By]
			if test.want.By == "" {
				got.By = ""
			}
			if test.want.Word != "" && file != filepath.Base(filepath.Dir(filepath.Dir(got.File))) && got.File+file != "" {
				t.Errorf("said in %q", got.File)
			}
			got.File = ""
			if len(got.Paths) == 0 {
				got.Paths = nil
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, args := range [][]string{{"--sandbox=off"}, {"-s=false"}} {
		_, err := confinementOf(t, `{"security":{"toolSandboxing":true}}`, "", args, nil)
		if never := (*ForbiddenError)(nil); !errors.As(err, &never) || !strings.Contains(never.Message, "--sandbox") {
			t.Errorf("%q against security.toolSandboxing: %v", args, err)
		}
	}
}

// What is not understood switches it on, unless what is stronger makes up for it.
func TestConfinementMisread(t *testing.T) {
	for _, test := range []struct {
		name, user, project string
		args                []string
		env                 string
		want, by            string
		firm                bool
	}{
		{name: "a number", user: `{"tools":{"sandbox":5}}`, want: On, by: "tools.sandbox"},
		{name: "a list", user: `{"tools":{"sandbox":["docker"]}}`, want: On, by: "tools.sandbox"},
		{name: "an older name", user: `{"sandbox":5}`, want: On, by: "tools.sandbox"},
		{name: "a switch", user: `{"tools":{"sandbox":{"enabled":"on"}}}`, want: On, by: "tools.sandbox.enabled"},
		{name: "a command", user: `{"tools":{"sandbox":{"command":["docker"]}}}`, want: On, by: "tools.sandbox.command"},
		{name: "a command beside a switch", user: `{"tools":{"sandbox":{"enabled":true,"command":1}}}`, want: On},
		{name: "insistence", user: `{"security":{"toolSandboxing":"on"}}`, want: On, by: "security.toolSandboxing", firm: true},
		{name: "insistence beside off", user: `{"tools":{"sandbox":"off"},"security":{"toolSandboxing":"on"}}`, want: On, by: "security.toolSandboxing", firm: true},
		{name: "of a project", project: `{"security":{"toolSandboxing":"on"}}`, want: On, by: "security.toolSandboxing", firm: true},
		{name: "of a project's choice", user: `{"tools":{"sandbox":"docker"}}`, project: `{"tools":{"sandbox":5}}`, want: "docker"},
		{name: "with -s, which leaves the choice to the files", user: `{"tools":{"sandbox":5}}`, args: []string{"-s"}, want: On},

		{name: "a flag that names one", user: `{"tools":{"sandbox":5},"security":{"toolSandboxing":"on"}}`, args: []string{"--sandbox=docker"}, want: "docker", firm: true},
		{name: "a flag that does without", user: `{"tools":{"sandbox":5}}`, args: []string{"--sandbox=off"}, want: Off},
		{name: "a variable that names one", user: `{"tools":{"sandbox":5}}`, env: "GEMINI_SANDBOX=docker", want: "docker"},
		{name: "a name that is none", user: `{"tools":{"sandbox":{"enbled":true}}}`},
		{name: "words for a switch", user: `{"tools":{"sandbox":{"enabled":"true"}},"security":{"toolSandboxing":"true"}}`, want: On, firm: true},
		{name: "what is no choice", user: `{"tools":{"sandbox":{"image":5,"networkAccess":"perhaps"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := confinementOf(t, test.user, test.project, test.args, []string{test.env})
			if err != nil || c.Word != test.want || c.Firm != test.firm || !strings.HasPrefix(c.By, test.by) {
				t.Errorf("%v %+v", err, c)
			}
		})
	}
	_, err := confinementOf(t, `{"security":{"toolSandboxing":"on"}}`, "", []string{"--sandbox=off"}, nil)
	if never := (*ForbiddenError)(nil); !errors.As(err, &never) {
		t.Error("a flag does without what may be insisted on:", err)
	}
}

func confinementOf(t *testing.T, user, project string, args, env []string) (Confinement, error) {
	t.Helper()
	lookup := func(name string) (string, bool) {
		i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if i < 0 {
			return "", false
		}
		return strings.TrimPrefix(env[i], name+"="), true
	}
	var sources []Source
	for scope, text := range map[Scope]string{User: user, Workspace: project} {
		name := map[Scope]string{User: "user", Workspace: "project"}[scope]
		path := filepath.Join(t.TempDir(), name, ".gemini", "settings.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Path: path, Scope: scope})
	}
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(string(a.Scope), string(b.Scope)) }) // user, workspace
	own, _, err := Load(sources[:1], lookup)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := Load(sources, lookup)
	if err != nil {
		t.Fatal(err)
	}
	f, err := flags.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return all.Confinement(own, f, lookup)
}
