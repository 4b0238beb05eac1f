package output

import "strings"

// Signs are what the choice of the mode depends on.
type Signs struct {
	Flag     string // the flag about the mode that was given, such as "--plain"; "" if none
	FlagOff  bool   // that flag was given with the value false
	Setting  *bool  // the setting ui.accessibility.screenReader, nil if not set
	Terminal bool   // standard output is a terminal

	// Lookup returns a variable of the environment.
	Lookup func(name string) (string, bool)
}

// A Mode is how the program may write.
type Mode struct {
	Smart bool // escapes are allowed
	Color bool // among them colours
	Marks bool // among them operating system commands (OSC), such as marks
	Asked bool // the user asked for screen reader mode

	// Limited is a terminal that may be smart, but marks no pastes and shows no UTF-8, such
	// as a vt100 with the locale C.
	Limited bool

	// Cause says what decided, in a word or two, such as "settings".
	Cause string
}

// Name returns the mode and its cause, such as "plain mode (TERM=dumb)", or "" for the mode of
// capable terminals. If a flag chose the mode, it has the flag's name.
func (m Mode) Name() string {
	switch {
	case m.Smart:
		return ""
	case m.Asked && m.Cause != "--plain":
		return "screen reader mode (" + m.Cause + ")"
	}
	return "plain mode (" + m.Cause + ")"
}

// Decide chooses the mode. A flag beats the environment, which beats the
// settings, also when it says no; a terminal that can't do more stays plain
// whatever is asked.
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

// locale returns the name of the locale of the user's characters, "" if there is none.
func locale(lookup func(string) (string, bool)) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, _ := lookup(name); v != "" {
			return v
		}
	}
	return ""
}

// isUTF8 reports whether the characters of a locale are encoded as UTF-8.
func isUTF8(locale string) bool {
	locale = strings.ToLower(locale)
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// OnlyASCII reports whether the user's locale has ASCII characters only.
func OnlyASCII(lookup func(string) (string, bool)) bool {
	l := locale(lookup)
	return l == "C" || l == "POSIX"
}

// commanded reports whether a terminal of that name understands operating system commands, or
// passes over unknown ones. Older terminals show them.
func commanded(term string) bool {
	for _, family := range []string{"xterm", "tmux", "screen", "foot", "alacritty", "wezterm",
		"ghostty", "kitty", "rxvt", "konsole", "vte", "gnome", "contour", "mintty", "iterm", "st-"} {
		if strings.HasPrefix(term, family) {
			return true
		}
	}
	return false
}

// colored reports whether a smart terminal gets colours. Plain mode has none,
// whatever is forced.
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

// requestedMode reports whether the user wants screen reader mode, and who said so.
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
