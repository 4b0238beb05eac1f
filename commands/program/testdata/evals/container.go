package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// contained does a task in the format of Terminal-Bench 2 and Harbor: a container of
// environment/Dockerfile, or of an image that task.toml names, in which the agent gets
// instruction.md; then tests/test.sh writes a number to /logs/verifier/reward.txt, and 1 is a
// pass. Without a model, solution/solve.sh works in the place of the agent, or nobody in a broken
// run.
func (t task) contained(r result, dir, program, model string, broken bool) result {
	failed := func(err error, out []byte) result {
		r.Failure = fmt.Sprintf("%v\n%s", err, out[max(0, len(out)-2000):])
		return r
	}
	instruction, err := os.ReadFile(filepath.Join(t.folder, "instruction.md"))
	if err != nil {
		return failed(err, nil)
	}
	image, out, err := t.image()
	if err != nil {
		return failed(fmt.Errorf("the image: %w", err), out)
	}
	args := []string{"run", "-d", "--rm", "--network=host", "-v", program + ":/usr/local/bin/gemline:ro"}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL") {
			args = append(args, "-e", name)
		}
	}
	out, err = podman(append(args, image, "sleep", "100000")...) // it is removed below
	if err != nil {
		return failed(err, out)
	}
	container := strings.TrimSpace(string(out))
	defer podman("rm", "-f", "-t", "0", container)
	switch {
	case model != "":
		record, err := exec.Command("podman", "exec", container, "gemline", "-y", "--skip-trust", "-o", "stream-json", "-m", model, "-p", string(instruction)).Output()
		stop := (*exec.ExitError)(nil)
		if errors.As(err, &stop) {
			r.unusable = unusable(stop, stop.Stderr)
		}
		if err := r.take(dir, record); err != nil {
			return failed(err, record)
		}
		if stop != nil {
			r.Failure = string(stop.Stderr) // what it did may do
		}
	case !broken:
		if out, err := podman("cp", filepath.Join(t.folder, "solution"), container+":/solution"); err != nil {
			return failed(err, out)
		}
		if out, err := podman("exec", container, "bash", "/solution/solve.sh"); err != nil {
			return failed(fmt.Errorf("the solution: %w", err), out)
		}
	}
	if out, err := podman("cp", filepath.Join(t.folder, "tests"), container+":/tests"); err != nil {
		return failed(err, out)
	}
	if out, err := podman("exec", container, "mkdir", "-p", "/logs/verifier"); err != nil {
		return failed(err, out)
	}
	said, _ := podman("exec", container, "bash", "/tests/test.sh") // which counts by its reward
	out, err = podman("exec", container, "cat", "/logs/verifier/reward.txt")
	if err != nil {
		return failed(fmt.Errorf("tests/test.sh gave no reward: %w", err), said)
	}
	if reward, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil || reward < 1 {
		return failed(fmt.Errorf("the reward is %s", bytes.TrimSpace(out)), said)
	}
	r.Passed, r.Failure = 1, ""
	return r
}

// image returns the image that the task runs in, which is built if it is not named.
func (t task) image() (name string, out []byte, err error) {
	var config struct {
		Environment struct {
			Image string `toml:"docker_image"`
		}
	}
	if _, err := toml.DecodeFile(filepath.Join(t.folder, "task.toml"), &config); err != nil {
		return "", nil, err
	}
	if config.Environment.Image != "" {
		return config.Environment.Image, nil, nil
	}
	name = "gemline-eval-" + strings.ToLower(t.name)
	out, err = podman("build", "-q", "-t", name, filepath.Join(t.folder, "environment"))
	return name, out, err
}

func podman(args ...string) ([]byte, error) {
	cmd := exec.Command("podman", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		out = append(out, stderr.Bytes()...)
	}
	return out, err
}
