package output

import "strings"

// Signs are the facts that decide the mode.
type Signs struct {
	Flag     string // the given flag about the mode, such as "--plain"; "" if none
	FlagOff  bool   // that flag was given with the value false
	Setting  *bool  // the setting ui.accessibility.screenReader, nil if not set
	Terminal bool   // standard output is a terminal

	// Lookup returns a variable of the environment.
	Lookup func(name string) (string, bool)
}

// A Mode says which sequences the program may write.
type Mode struct {
	Smart bool // escape sequences are allowed
	Color bool // also colours
	Marks bool // also operating system commands (OSC), such as marks
	Asked bool // the user asked for screen reader mode

	// Limited is set for a smart terminal without paste marks and UTF-8, such as a vt100 with the
	// locale C.
	Limited bool

	// Cause names the deciding sign in a word or two, such as "settings".
	Cause string
}

// Name returns the mode and its cause, such as "plain mode (TERM=dumb)", or "" for the mode of
// capable terminals. If a flag chose the mode, Name has the flag.
func (m Mode) Name() string {
	switch {
	case m.Smart:
		return ""
	case m.Asked && m.Cause != "--plain":
		return "screen reader mode (" + m.Cause + ")"
	}
	return "plain mode (" + m.Cause + ")"
}

// Decide chooses the mode. A flag overrides the environment, which overrides the settings, also
// when it switches off. A terminal without capabilities stays plain in any case.
func Decide(s Signs) Mode {
	if on, cause := requestedMode(s); on {
		return Mode{Asked: true, Cause: cause}
	}
	term, _ := s.Lookup("TERM")
	emacs, _ := s.Lookup("INSIDE_EMACS")
	switch {
	case !s.Terminal:
		return Mode{Cause: "output is not a terminal"}
	case emacs != "":
		return Mode{Cause: "INSIDE_EMACS"}
	case term == "":
		return Mode{Cause: "TERM is not set"}
	case term == "dumb", term == "unknown":
		return Mode{Cause: "TERM=" + term}
	}
	marks := commanded(term)
	return Mode{Smart: true, Color: colored(s.Lookup), Marks: marks, Limited: !marks && !isUTF8(locale(s.Lookup)), Cause: "terminal"}
}

// locale returns the user's locale of characters, "" if there is none.
func locale(lookup func(string) (string, bool)) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, _ := lookup(name); v != "" {
			return v
		}
	}
	return ""
}

// isUTF8 reports whether a locale's encoding is UTF-8.
func isUTF8(locale string) bool {
	locale = strings.ToLower(locale)
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// OnlyASCII reports whether the user's locale has ASCII characters only.
func OnlyASCII(lookup func(string) (string, bool)) bool {
	l := locale(lookup)
	return l == "C" || l == "POSIX"
}

// commanded reports whether a terminal, by its name, understands operating system commands, or
// ignores unknown ones. Older terminals print them.
func commanded(term string) bool {
	for _, family := range []string{"xterm", "tmux", "screen", "foot", "alacritty", "wezterm",
		"ghostty", "kitty", "rxvt", "konsole", "vte", "gnome", "contour", "mintty", "iterm", "st-"} {
		if strings.HasPrefix(term, family) {
			return true
		}
	}
	return false
}

// colored reports whether a smart terminal gets colours. Plain mode never has colours.
func colored(lookup func(string) (string, bool)) bool {
	none, _ := lookup("NO_COLOR")
	force, _ := lookup("FORCE_COLOR")
	cliForce, _ := lookup("CLICOLOR_FORCE")
	cli, _ := lookup("CLICOLOR")
	switch {
	case none != "", force == "0", strings.EqualFold(force, "false"):
		return false
	case force != "", cliForce != "" && cliForce != "0":
		return true
	}
	return cli != "0"
}

// requestedMode reports whether the user wants screen reader mode, and by which sign.
func requestedMode(s Signs) (on bool, cause string) {
	if s.Flag != "" {
		return !s.FlagOff, s.Flag
	}
	for _, name := range []string{"GEMLINE_ACCESSIBLE", "ACCESSIBLE"} {
		v, set := s.Lookup(name)
		if !set || v == "" {
			continue
		}
		switch strings.ToLower(v) {
		case "0", "false", "no", "off":
			return false, name
		}
		return true, name
	}
	if s.Setting != nil {
		return *s.Setting, "settings"
	}
	return false, ""
}
