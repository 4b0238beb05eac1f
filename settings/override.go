package settings

import (
	"cmp"
	"strings"
)

// A ForbiddenError is a flag that the settings forbid.
type ForbiddenError struct{ Message string }

// Error returns the message.
func (e *ForbiddenError) Error() string { return e.Message }

// Override lets the environment and then the command line have the last word.
// The error, a [ForbiddenError], is about a flag that s forbids.
func (s *Settings) Override(f *Flags, lookup func(string) (string, bool)) error {
	name, _ := lookup("GEMINI_MODEL")
	s.Model = cmp.Or(strings.TrimSpace(f.Model), strings.TrimSpace(name), strings.TrimSpace(s.Model))
	s.MaxTurns = cmp.Or(f.MaxTurns, s.MaxTurns)
	s.MaxAttempts = cmp.Or(f.MaxAttempts, s.MaxAttempts)
	s.ApprovalMode = cmp.Or(f.Mode(), s.ApprovalMode)
	s.Format = cmp.Or(f.Format(), s.Format)
	s.IncludeDirs = append(s.IncludeDirs[:len(s.IncludeDirs):len(s.IncludeDirs)], f.IncludeDirs...)
	if s.ApprovalMode == "yolo" && s.NoYolo {
		return &ForbiddenError{"yolo is switched off by security.disableYoloMode in the settings"}
	}
	return nil
}

// Confine takes back what a folder that is not trusted may not have, and
// reports whether there was such a thing.
func (s *Settings) Confine() bool {
	was := s.ApprovalMode
	s.ApprovalMode = "default"
	return was == "yolo" || was == "auto_edit"
}
