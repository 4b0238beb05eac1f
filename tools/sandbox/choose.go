package sandbox

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// The names of sandboxes, as users give them.
const (
	ByKernel   = "kernel"
	ByDocker   = "docker"
	ByPodman   = "podman"
	ByRunsc    = "runsc" // docker with the runtime runsc
	BySeatbelt = "sandbox-exec"
)

// An Error says why a requested sandbox can't confine commands.
type Error struct {
	Message string
	Advice  string // how to fix it; may be empty
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Hint returns the advice, on one line; may be empty.
func (e *Error) Hint() string { return e.Advice }

// Config is the wanted sandbox, and the available ones.
type Config struct {
	Word string // one of the names, or on for the best available
	By   string // the source of Word, for messages

	GOOS   string
	Kernel Sandbox                // the kernel's sandbox, nil if there is none
	Getenv func(string) string    // the environment of the program
	Exists func(path string) bool // of an absolute path

	Environ []string // the environment of engine calls that start no command; nil is the program's

	Image    string   // for a container
	Project  string   // the project's directory, to build an image from; "" if it is not trusted
	Seatbelt []string // the directories of the user's own Seatbelt profiles
	Extras   Extras
}

// Extras are settings for containers and profiles from the user's environment.
type Extras struct {
	Flags   []string // further arguments for docker run or podman run
	Env     []string // NAME=value, for commands in a container
	Mounts  []Mount
	Ports   []string
	Build   bool   // build the image from the project's [Dockerfile]
	User    string // UID:GID that commands in a container run as, "" for the image's
	Profile string // of Seatbelt; "" is permissive, with the network by the Profile
}

// A Mount is a directory or file that is mounted in a container.
type Mount struct {
	From, To string
	Writable bool
}

// Choose returns the sandbox for commands. It runs no program. The error is an [*Error].
func Choose(c Config) (Sandbox, error) {
	word := c.Word
	if word == "on" {
		found, err := c.best()
		if err != nil {
			return nil, err
		}
		word = found
	}
	switch word {
	case ByKernel:
		if c.Kernel == nil {
			return nil, c.fault("the kernel of %s can't confine commands",
				"name another one: "+strings.Join(Names(), ", "), c.GOOS)
		}
		return c.Kernel, nil
	case ByDocker, ByPodman, ByRunsc, BySeatbelt:
	case "bwrap":
		return nil, c.fault("bwrap is not used: the kernel does the same and filters system calls besides", "gemline --sandbox=kernel")
	case "lxc":
		return nil, c.fault("containers of LXC are not supported",
			"gemline --sandbox=podman, or one of: "+strings.Join(Names(), ", "))
	case "windows-native":
		return nil, c.fault("Windows' own sandbox is not supported", "gemline --sandbox=docker confines commands there")
	default:
		return nil, c.fault("%.60q is not something that confines commands",
			"there are: on, off, "+strings.Join(Names(), ", "), word)
	}
	program := word
	if word == ByRunsc {
		program = ByDocker
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, c.fault("%s is not installed",
			"install it, or gemline --sandbox=off runs commands without", program)
	}
	if word == BySeatbelt {
		return c.seatbelt(path)
	}
	return c.container(word, path)
}

// Names returns the names of sandboxes.
func Names() []string {
	return []string{ByKernel, ByDocker, ByPodman, ByRunsc, BySeatbelt}
}

// best returns the name of the best sandbox here.
func (c Config) best() (string, error) {
	if c.Kernel != nil {
		return ByKernel, nil
	}
	names := []string{ByDocker, ByPodman}
	if c.GOOS == "darwin" {
		names = slices.Insert(names, 0, BySeatbelt)
	}
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return name, nil
		}
	}
	return "", c.fault("none of %s is installed",
		"install one, or gemline --sandbox=off runs commands without", strings.Join(names, ", "))
}

// fault returns an error that names the setting that asks for an unavailable sandbox.
func (c Config) fault(format, hint string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if c.By != "" {
		text = c.By + ": " + text
	}
	return &Error{Message: text, Advice: hint}
}
