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

// Dockerfile is where a project says of what the image for its commands is
// built, below its directory.
const Dockerfile = ".gemini/sandbox.Dockerfile"

// mostBuild is how long an image may take to be built.
const mostBuild = 30 * time.Minute

// built is the building of an image, which happens once.
type built struct {
	once sync.Once
	err  error
}

// build has k run commands in an image of the project's. What the project says
// for that runs with a network and is held by the engine alone, so nobody but
// the user asks for it, and in no folder that is not trusted.
func (c Choice) build(k *Container) error {
	if c.Project == "" {
		return &Error{Message: "BUILD_SANDBOX: the folder is not trusted, and says what the image is built of", Advice: "unset BUILD_SANDBOX, or trust the folder: gemline trust add"}
	}
	if file := filepath.Join(c.Project, Dockerfile); !c.Exists(file) {
		return &Error{Message: fmt.Sprintf("BUILD_SANDBOX: %.200q is not there", file),
			Advice: "unset BUILD_SANDBOX, or write that file"}
	}
	k.Of = c.Project
	k.Image = fmt.Sprintf("gemline-sandbox:%.12x", sha256.Sum256([]byte(c.Project)))
	return nil
}

// build has the engine build the image, unless it is one that is there. The
// engine builds only what has changed. The error is an [*Error].
func (k *Container) build() error {
	if k.Of == "" {
		return nil
	}
	k.built.once.Do(func() {
		ctx, stop := context.WithTimeout(context.Background(), mostBuild)
		defer stop()
		cmd := exec.CommandContext(ctx, k.Path, "build", "--quiet", "--tag", k.Image, "--file",
			filepath.Join(k.Of, Dockerfile), k.Of)
		cmd.Env = k.Environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
			k.built.err = &Error{Message: fmt.Sprintf("BUILD_SANDBOX: %s can't build the image: %v: %.200s", k.Engine, err, lines[len(lines)-1]),
				Advice: fmt.Sprintf("%s build --file %s %s says more", k.Engine, filepath.Join(k.Of, Dockerfile), k.Of)}
		}
	})
	return k.built.err
}
