package launch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"

	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A Request chooses the sandbox for commands.
type Request struct {
	// Word chooses the sandbox: a name of [sandbox.Names], "on", "off", or "" for the
	// kernel's. By is the source of Word, Where the source with its file, and Commanded
	// says that it is the command line. Inside is the
	// sandbox that this process runs in; commands then get no other.
	Word, By, Where, Inside string
	Commanded               bool

	Image    string              // for a container
	Project  string              // the directory of an image's Dockerfile, "" if it is not trusted
	Seatbelt []string            // directories of the user's profiles
	Getenv   func(string) string // the environment of the program
}

// Off switches confinement off.
const Off = "off"

// New chooses the sandbox for commands. A requested sandbox that is not available is an
// error, unless a file or the environment requests it and the kernel can confine commands
// instead; the default sandbox may lack layers.
func New(cfg Config) (*Launcher, error) {
	kernel := kernelSandbox(cfg)
	switch {
	case cfg.Request.Inside != "":
		return &Launcher{Config: cfg, why: "gemline itself runs in a sandbox: " + cfg.Request.Inside, quiet: true}, nil
	case cfg.Request.Word == Off:
		return &Launcher{Config: cfg, why: "switched off by " + cfg.Request.By, quiet: true}, nil
	case cfg.Request.Word == "" && kernel == nil:
		return &Launcher{Config: cfg, why: "on " + runtime.GOOS + " only gemline --sandbox confines commands"}, nil
	case cfg.Request.Word == "":
		return confined(cfg, kernel, true), nil
	}
	wanted, err := choice(cfg, kernel)
	if err != nil {
		return fallback(cfg, kernel, err)
	}
	box, err := sandbox.Choose(wanted)
	if err != nil {
		return fallback(cfg, kernel, err)
	}
	less := len(wanted.Extras.Flags) > 0 || wanted.Extras.Profile != "" // by the user's choice
	if st := box.State(); !st.Confined() && !less {
		return nil, &sandbox.Error{Message: fmt.Sprintf("%s: commands can't be confined by %s: %s",
			cfg.Request.By, st.Name, missing(st)),
			Advice: "gemline sandbox status says more; gemline --sandbox=off runs commands without"}
	}
	return confined(cfg, box, false), nil
}

// fallback lets the kernel confine commands if a file or the environment requests a sandbox
// that is unavailable because of err. If the kernel can't, fallback returns err.
func fallback(cfg Config, kernel sandbox.Sandbox, err error) (*Launcher, error) {
	var why *sandbox.Error
	if cfg.Request.Commanded || kernel == nil || !errors.As(err, &why) || !kernel.State().Confined() {
		return nil, err
	}
	l := confined(cfg, kernel, false)
	l.FallbackNotice = &sandbox.Error{Message: why.Message + "; the kernel confines commands instead, as --sandbox=kernel has it", Advice: why.Advice}
	return l, nil
}

// confined returns a Launcher whose commands run in box, with their own caches. If soft, box
// is the default sandbox: if no layer of it is in force, commands run without it.
func confined(cfg Config, box sandbox.Sandbox, soft bool) *Launcher {
	return &Launcher{Config: cfg, Sandbox: withCaches{box, soft, cfg.Caches, cfg.Built}}
}

// kernelSandbox returns the sandbox of this system's kernel, nil if it has none. It needs a
// directory for temporary files.
func kernelSandbox(cfg Config) sandbox.Sandbox {
	if runtime.GOOS != "linux" {
		return nil
	}
	return sandbox.New(sandbox.Options{Cache: cfg.Temp})
}

// choice returns the configuration for [sandbox.Choose].
func choice(cfg Config, kernel sandbox.Sandbox) (c sandbox.Config, err error) {
	r := cfg.Request
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	user := ""
	if runtime.GOOS == "linux" {
		user = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	c = sandbox.Config{Word: r.Word, By: cmp.Or(r.Where, r.By), GOOS: runtime.GOOS,
		Kernel: kernel, Getenv: r.Getenv, Exists: exists,
		Environ: shell.UserEnvironment(cfg.Shell.Environ), Image: r.Image, Project: r.Project, Seatbelt: r.Seatbelt}
	c.Extras, err = sandbox.ReadExtras(r.Getenv, cfg.Hidden, user, exists)
	return c, err
}
