package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gemline/settings"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// chooseConfinement finds out what confines commands. Where that was asked for and
// can't be had there is an error; where it is the default, commands run with
// what there is of it.
func chooseConfinement(o *Options) (*confinement, error) {
	if o.unread != nil {
		return nil, o.unread
	}
	s, err := o.settings.Confinement(o.own, o.flags, o.lookup)
	if wrong := (*settings.ConfinementError)(nil); errors.As(err, &wrong) {
		o.warnings = slices.DeleteFunc(o.warnings, func(w string) bool { return w == wrong.Error() }) // it says the same
		return nil, &sandbox.Error{Message: wrong.Error(), Hint: "there are: on, off, " + strings.Join(sandbox.Names(), ", ") + "; gemline --sandbox=NAME overrides the settings"}
	}
	if err != nil {
		return nil, err
	}
	c, err := chooseSandbox(o, s)
	if err != nil {
		return nil, err
	}
	c.places, c.network, c.offline, c.asked = o.places(), s.Network, s.Offline, s.Asked
	for _, path := range s.Paths {
		c.granted = append(c.granted, c.places.place(path))
	}
	return c, nil
}

// chooseSandbox finds what s asks for.
func chooseSandbox(o *Options, s settings.Confinement) (*confinement, error) {
	if inside := o.os.getenv("SANDBOX"); inside != "" {
		return &confinement{why: "gemline itself runs in a sandbox: " + inside, quiet: true}, nil
	}
	at := o.places()
	kernel := kernelSandbox(at)
	switch {
	case s.Word == settings.Off:
		return &confinement{why: "switched off by " + s.By, quiet: true}, nil
	case s.Word == "" && kernel == nil:
		return &confinement{why: "on " + runtime.GOOS + " only gemline --sandbox confines commands"}, nil
	case s.Word == "":
		return newConfinement(kernel, true, at), nil
	}
	choice, err := sandboxChoice(o, s, kernel)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Choose(choice)
	if err != nil {
		return nil, err
	}
	less := len(choice.Extras.Flags) > 0 || choice.Extras.Profile != "" // as the user says
	if st := box.State(); !st.Confined() && !less {
		return nil, &sandbox.Error{Message: fmt.Sprintf("%s: commands can't be confined by %s: %s", s.By, st.Name, missing(st)),
			Hint: "gemline sandbox status says more; gemline --sandbox=off runs commands without"}
	}
	return newConfinement(box, false, at), nil
}

// kernelSandbox returns what this system's kernel does to confine commands, nil if
// nothing. It needs a place for their temporary files.
func kernelSandbox(at places) sandbox.Sandbox {
	if runtime.GOOS != "linux" {
		return nil
	}
	var o sandbox.Options
	if dir := at.cache(); dir != "" {
		o.Cache = filepath.Join(dir, "tmp")
	}
	return sandbox.New(o)
}

// sandboxChoice is what [sandbox.Choose] chooses from.
func sandboxChoice(o *Options, s settings.Confinement, kernel sandbox.Sandbox) (sandbox.Choice, error) {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	user := ""
	if runtime.GOOS == "linux" {
		user = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	by := s.By
	if s.File != "" {
		by = "tools.sandbox in " + settings.EscapeLine(s.File)
	}
	choice := sandbox.Choice{Word: s.Word, By: by, GOOS: runtime.GOOS, Kernel: kernel, Getenv: o.getenv, Exists: exists, Environ: shell.Own(o.os.Environ()), Image: s.Image}
	if o.trust.State == settings.Trusted && !o.paths.AtHome() {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.Workspace())
		choice.Project = o.paths.Folder("")
	}
	if o.paths.Home != "" {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.User())
	}
	var err error
	choice.Extras, err = sandbox.ReadExtras(o.getenv, o.places().hidden(), user, exists)
	return choice, err
}

// missing says what keeps a sandbox from what it should do.
func missing(st sandbox.State) string {
	var off []string
	for _, l := range st.Layers {
		if !l.On {
			off = append(off, l.Name+": "+l.Why)
		}
	}
	return cmp.Or(strings.Join(off, "; "), st.Step, "nothing is in force")
}
