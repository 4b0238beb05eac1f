package program

import (
	"slices"
	"strings"

	"gemline/repl"
	"gemline/settings"
)

// unused lists what is set up and not in use yet.
func (s *session) unused() []settings.Unused {
	list, _ := s.installed() // what is wrong with one is told where it is used
	return s.settings.Unused(s.paths, s.trust.State == settings.Trusted, list, s.lookup)
}

// supported says what is set up and not in use yet. A run that nobody watches
// ends if a hook could have kept something from happening in it.
func (s *session) supported() error {
	s.idle = s.unused()
	if line := settings.Shorten(s.idle); line != "" {
		s.notify("not in use yet: " + line + "; gemline doctor says more")
	}
	watched := s.attended() && s.settings.ApprovalMode != "yolo"
	i := slices.IndexFunc(s.idle, func(u settings.Unused) bool { return u.Blocks })
	if i < 0 || watched || s.flags.IgnoreUnsupported {
		return nil
	}
	return &settings.UnsupportedError{Hook: s.idle[i]}
}

// counted returns what a record says of what is not in use yet.
func (s *session) counted() (list []repl.Unused) {
	for _, u := range s.idle {
		i := slices.IndexFunc(list, func(c repl.Unused) bool { return c.Feature == u.Feature })
		if i < 0 {
			i, list = len(list), append(list, repl.Unused{Feature: u.Feature})
		}
		list[i].Count++
	}
	return list
}

// elsewhere says where a name is a command: in a folder of commands or skills
// that is not in use yet. A name of the Gemini CLI's for one of two that are
// called alike is known, too.
func (s *session) elsewhere(name string) string {
	for _, prefix := range []string{"user.", "workspace."} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, u := range s.unused() {
		known := strings.TrimPrefix(u.Name, "/")
		_, bare, _ := strings.Cut(name, ".") // behind the name of its extension
		_, skill, _ := strings.Cut(name, ":")
		switch {
		case u.Feature == "commands" && (known == name || known == bare):
			return "it is a command in " + settings.EscapeLine(u.File) + ", and custom commands are not in use yet"
		case u.Feature == "skills" && (known == name || known == skill):
			return "it is a skill in " + settings.EscapeLine(u.File) + ", and skills are not in use yet"
		}
	}
	return ""
}
