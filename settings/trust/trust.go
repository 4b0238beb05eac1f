package trust

import (
	"fmt"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
)

// A State is the trust of a folder. The zero State means no trust.
type State int

// The states of a folder.
const (
	Unknown    State = iota // no decision; nothing in it is used
	Distrusted              // denied; nothing in it is used
	Unneeded                // it has no configuration
	Trusted                 // its configuration is used
)

// String returns the state in a word or two.
func (s State) String() string {
	switch s {
	case Distrusted:
		return "not trusted"
	case Unneeded:
		return "not needed"
	case Trusted:
		return "trusted"
	}
	return "unknown"
}

// A Status is the trust of the working directory.
type Status struct {
	State  State
	Folder string // its real path

	// Why names the source of the decision: a variable, a flag, a setting or a rule. It is empty
	// without a decision.
	Why  string
	Rule Decision // the deciding rule of the list, zero for none

	Contents []Item // the folder's items; empty in a trusted folder, which is not scanned
}

// A RefusedError is the error of a run in an untrusted folder without a user.
type RefusedError struct{ Trust Status }

// Error names the folder and the kinds of its items.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is not trusted, and would bring %s", text.PrintableLine(e.Trust.Folder), kinds(e.Trust.Contents))
}

// Hint says how to proceed.
func (e *RefusedError) Hint() string {
	if why := e.Trust.WhyForbidden(); why != "" {
		return why
	}
	return "gemline trust status shows its files, --trust or a session trusts it; for one run, --skip-trust or GEMINI_CLI_TRUST_WORKSPACE=true"
}

// Decide determines whether the working directory is trusted: by the environment, the flags
// --skip-trust and --trust, the settings s without the folder's, and the user's list of folders, in
// this order. An unreadable list is a [jsonc.Error].
func Decide(p project.Paths, s *settings.Settings, f *flags.Set, lookup func(string) (string, bool)) (Status, error) {
	t := Status{Folder: disk.ResolveLinks(p.Cwd)}
	if err := t.decide(p, s, f, lookup); err != nil || t.State == Trusted {
		return t, err
	}
	t.Contents = Scan(p, s)
	system, _ := lookup("GEMINI_SYSTEM_MD")
	unused := slices.Contains([]string{"", "0", "false"}, strings.ToLower(strings.TrimSpace(system)))
	if t.State == Unknown && !slices.ContainsFunc(t.Contents, func(i Item) bool { return !unused || i.Kind != systemPrompt }) {
		t.State = Unneeded
	}
	return t, nil
}

func (t *Status) decide(p project.Paths, s *settings.Settings, f *flags.Set, lookup func(string) (string, bool)) error {
	for _, v := range []struct {
		name, value string
		state       State
	}{
		{"GEMINI_RESTRICTED_MODE", "true", Distrusted},
		{"GEMINI_CLI_TRUST_WORKSPACE", "false", Distrusted},
		{"GEMINI_CLI_TRUST_WORKSPACE", "true", Trusted},
	} {
		if value, _ := lookup(v.name); value == v.value {
			t.State, t.Why = v.state, v.name+"="+v.value
			return nil
		}
	}
	switch {
	case f.Trust:
		t.State, t.Why = Trusted, "--trust"
		return nil
	case f.SkipTrust:
		t.State, t.Why = Trusted, "--skip-trust"
		return nil
	case !s.FolderTrust:
		t.State, t.Why = Trusted, "security.folderTrust.enabled is false"
		return nil
	}
	rules, err := Folders(p, lookup).Decisions()
	if err != nil {
		return err
	}
	if t.State, t.Rule = judge(rules, t.Folder); t.State != Unknown {
		t.Why = fmt.Sprintf("%s for %s", t.Rule.Rule, t.Rule.Path)
	}
	return nil
}

// WhyForbidden returns a message that names the variable that forbids trusting the folder, whatever
// flags and rules say; "" if there is none.
func (t Status) WhyForbidden() string {
	if t.State == Distrusted && strings.HasPrefix(t.Why, "GEMINI_") {
		return t.Why + " in the environment keeps it from being trusted"
	}
	return ""
}

// Refuse returns the error of a run without a user, nil if the folder has no configuration that the
// run would lack.
func (t Status) Refuse() error {
	if t.State >= Unneeded || len(t.Contents) == 0 {
		return nil
	}
	return &RefusedError{t}
}

// kinds counts items by kind.
func kinds(items []Item) string {
	var out []string
	for kind, group := range grouped(items) {
		n := 0
		for _, i := range group {
			n += 1 + i.More
		}
		out = append(out, text.Count(n, kind))
	}
	return text.List(out)
}

// grouped yields the items of each kind, in the order of their first items.
func grouped(items []Item) func(func(string, []Item) bool) {
	return func(yield func(string, []Item) bool) {
		for len(items) > 0 {
			kind := items[0].Kind
			other := func(i Item) bool { return i.Kind != kind }
			if !yield(kind, slices.DeleteFunc(slices.Clone(items), other)) {
				return
			}
			items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.Kind == kind })
		}
	}
}
