package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/sandbox"
)

// An image is built of what the project says, once and before the first
// command; without that nothing runs.
func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the program that stands for docker is a script for sh")
	}
	for _, test := range []struct {
		name, dockerfile, script string
		untrusted                bool
		chosen, confined         string // the error, "" if there is none
		log                      string
	}{
		{name: "built", dockerfile: "FROM x", script: `echo id; [ "$OWN" = said ] || echo "another environment" >>"${0%docker}log"`, log: "build --quiet --tag IMAGE --file ROOT/.gemini/sandbox.Dockerfile ROOT\n"},
		{name: "not built", dockerfile: "FROM x", script: "echo step 1; echo no such image; exit 3", log: "build --quiet --tag IMAGE --file ROOT/.gemini/sandbox.Dockerfile ROOT\n",
			confined: "BUILD_SANDBOX: docker can't build the image: exit status 3: no such image"},
		{name: "nothing to build", chosen: `BUILD_SANDBOX: "ROOT/.gemini/sandbox.Dockerfile" is not there`},
		{name: "untrusted", dockerfile: "FROM x", untrusted: true, chosen: "BUILD_SANDBOX: the folder is not trusted, and its Dockerfile builds the image"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, bin := t.TempDir(), t.TempDir()
			t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			log := filepath.Join(bin, "log")
			err := errors.Join(os.Mkdir(filepath.Join(root, ".gemini"), 0o700),
				os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\necho \"$@\" >> '"+log+"'\n"+test.script+"\n"), 0o700))
			if test.dockerfile != "" {
				err = errors.Join(err, os.WriteFile(filepath.Join(root, sandbox.Dockerfile), []byte(test.dockerfile), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			c := sandbox.Config{Word: "docker", Image: "other", Project: root, Environ: append(os.Environ(), "OWN=said"), Extras: sandbox.Extras{Build: true},
				Exists: func(path string) bool { _, err := os.Stat(path); return err == nil }}
			if test.untrusted {
				c.Project = ""
			}
			said := func(what string, err error, want string) {
				t.Helper()
				wrong := (*sandbox.Error)(nil)
				if err == nil && want != "" || err != nil && (!errors.As(err, &wrong) || wrong.Advice == "" || strings.ReplaceAll(wrong.Message, root, "ROOT") != want) {
					t.Errorf("%s: %v, want %s", what, err, want)
				}
			}
			box, err := sandbox.Choose(c)
			said("chosen", err, test.chosen)
			if err != nil {
				return
			}
			image, _, _ := strings.Cut(strings.TrimPrefix(box.State().Layers[0].Why, "of the image "), ",")
			for range 2 {
				cmd := exec.Command("sh", "-c", "true")
				_, err := box.Confine(cmd, sandbox.Profile{Root: root})
				said("confined", err, test.confined)
				if err == nil && !strings.Contains(strings.Join(cmd.Args, " "), " "+image+" sh -c true") {
					t.Errorf("%q is not of %s", cmd.Args, image)
				}
			}
			text, err := os.ReadFile(log)
			if got := strings.NewReplacer(root, "ROOT", image, "IMAGE").Replace(string(text)); err != nil || got != test.log {
				t.Errorf("docker was given %q, want %q; %v", got, test.log, err)
			}
		})
	}
}
