package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Dockerfile is the path, in a project, of the Dockerfile for its commands' image.
const Dockerfile = ".gemini/sandbox.Dockerfile"

// mostBuild limits the time of a build of an image.
const mostBuild = 30 * time.Minute

// built is the building of an image, which happens once.
type built struct {
	once sync.Once
	err  error
}

// build makes k run commands in an image built from the project. The build runs the
// project's code with network access, confined only by the engine, so only the user can
// request it, and only in a trusted folder.
func (c Config) build(k *Container) error {
	if c.Project == "" {
		return &Error{Message: "BUILD_SANDBOX: the folder is not trusted, and its Dockerfile builds the image", Advice: "unset BUILD_SANDBOX, or trust the folder: gemline trust add"}
	}
	if file := filepath.Join(c.Project, Dockerfile); !c.Exists(file) {
		return &Error{Message: fmt.Sprintf("BUILD_SANDBOX: %.200q is not there", file),
			Advice: "unset BUILD_SANDBOX, or write that file"}
	}
	k.BuildDir = c.Project
	k.Image = fmt.Sprintf("gemline-sandbox:%.12x", sha256.Sum256([]byte(c.Project)))
	return nil
}

// build lets the engine build the image of a project, once; an image named in the settings
// needs no build. The engine rebuilds only changed layers. The error is an [*Error].
func (k *Container) build() error {
	if k.BuildDir == "" {
		return nil
	}
	k.built.once.Do(func() {
		ctx, stop := context.WithTimeout(context.Background(), mostBuild)
		defer stop()
		cmd := exec.CommandContext(ctx, k.Path, "build", "--quiet", "--tag", k.Image, "--file",
			filepath.Join(k.BuildDir, Dockerfile), k.BuildDir)
		cmd.Env = k.Environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
			k.built.err = &Error{Message: fmt.Sprintf("BUILD_SANDBOX: %s can't build the image: %v: %.200s", k.Engine, err, lines[len(lines)-1]),
				Advice: fmt.Sprintf("%s build --file %s %s says more", k.Engine, filepath.Join(k.BuildDir, Dockerfile), k.BuildDir)}
		}
	})
	return k.built.err
}
