package question

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Decision is the user's decision about a folder.
type Decision int

// The zero Decision means not trusted this time.
const (
	NotNow Decision = iota
	TrustFolder
	TrustParent
	DoNotTrust
)

// A Folder is a folder that needs a decision about trust.
type Folder struct {
	Path string
	Home string // the user's home directory

	// Decided is the earlier decision, such as "trusted", or "".
	Decided string

	// Contents lists the folder's settings and files, a line each, in the folder's words. Caution
	// is true for lines that weaken the user's protection.
	Contents []string
	Caution  []bool

	// Items are the folder's programs. The same question decides about them.
	Items []ConsentItem
}

// A TrustAnswer is the user's decision about a folder and, if Both, about its items.
type TrustAnswer struct {
	Folder   Decision
	Commands Consent
	Both     bool
}

// A Consent is the user's decision about a folder's commands.
type Consent int

// The zero Consent means that they do not run this time.
const (
	NotThisTime Consent = iota
	RunConfined
	RunFree
	NeverRun
)

// A ConsentItem is a command or an agent of a folder.
type ConsentItem struct {
	Title   string   // its kind and name
	Agent   bool     // it is an agent
	Idle    bool     // only calls of the model run for it
	Command string   // in full
	Files   []string // files that the command names, or that run
	Only    string   // why it is always confined, "" if it may have all rights
}

// An Option is a way to answer a question about a folder.
type Option[T any] struct {
	Key    string // typed by a person; empty for the default
	Name   string // written by a program
	Text   string // the effect, ready to print
	Answer T
}

// Title asks whether the folder is trusted. The lines of Contents follow it.
func (f Folder) Title() string {
	path := output.EscapeLine(f.Path)
	if f.Decided == "" {
		return "do you trust this folder? " + path + " brings:"
	}
	return "do you trust this folder? It is " + f.Decided + " so far. " + path + " brings:"
}

// Weak counts the lines of Contents that weaken the user's protection.
func (f Folder) Weak() (n int) {
	for i := range f.Contents {
		if i < len(f.Caution) && f.Caution[i] {
			n++
		}
	}
	return n
}

// Options returns the possible answers about the folder.
func (f Folder) Options() (list []Option[TrustAnswer]) {
	parent := filepath.Dir(f.Path)
	confined, yes := "", func(d Decision) TrustAnswer { return TrustAnswer{Folder: d} }
	if len(f.Items) > 0 {
		confined = ", and run its commands, confined"
		yes = func(d Decision) TrustAnswer { return TrustAnswer{d, RunConfined, true} }
	}
	list = append(list, Option[TrustAnswer]{"1", "trust",
		"trust " + output.EscapeLine(f.Path) + f.wide(f.Path) + confined, yes(TrustFolder)})
	if parent != f.Path {
		list = append(list, Option[TrustAnswer]{"2", "trust_parent",
			"trust " + output.EscapeLine(parent) + " and all in it" + f.wide(parent) + confined, yes(TrustParent)})
	}
	list = append(list, Option[TrustAnswer]{"3", "never", "don't trust it, and don't ask again", TrustAnswer{Folder: DoNotTrust}})
	for _, o := range ConsentOptions(f.Items) {
		switch {
		case len(f.Items) == 0:
		case o.Answer == RunFree:
			list = append(list, Option[TrustAnswer]{"4", "trust_unconfined", "trust it, and " + o.Text, TrustAnswer{TrustFolder, RunFree, true}})
		case o.Answer == NeverRun:
			list = append(list, Option[TrustAnswer]{"5", "trust_only", "trust it, and " + o.Text, TrustAnswer{TrustFolder, NeverRun, true}})
		}
	}
	return append(list, Option[TrustAnswer]{"", "not_now", "don't use the folder's files this time", TrustAnswer{}})
}

// wide warns about a folder that contains nearly everything.
func (f Folder) wide(path string) string {
	switch {
	case path == f.Home:
		return ", your home directory"
	case path == filepath.Dir(path):
		return ", which is everything on this machine"
	}
	return ""
}

// ConsentTitle asks whether a folder's items may run; the items follow it.
func ConsentTitle(folder string, wishes []ConsentItem) string {
	return "this project " + ConsentSummary(wishes) + ", which nobody has agreed to so far: " + output.EscapeLine(folder)
}

// ConsentOptions returns the possible answers about the items of a folder.
func ConsentOptions(wishes []ConsentItem) []Option[Consent] {
	never, later := Option[Consent]{"3", "never", "never run them, unless they change",
		NeverRun}, Option[Consent]{"", "not_now", "leave them out this time", NotThisTime}
	if !slices.ContainsFunc(wishes, func(w ConsentItem) bool { return !w.Idle }) {
		never.Text = "never, unless they change"
		return []Option[Consent]{{"1", "agree",
			"let the model call them; their calls are judged and asked about as ever", RunConfined}, never, later}
	}
	options := []Option[Consent]{{"1", "agree", "run them confined", RunConfined}}
	free, held := 0, 0
	for _, w := range wishes {
		switch {
		case w.Only != "":
			held++
		case !w.Idle:
			free++
		}
	}
	with := "run them with all your rights"
	if held > 0 {
		with += ", and those confined that say so"
	}
	if free > 0 {
		options = append(options, Option[Consent]{"2", "unconfined", with, RunFree})
	}
	return append(options, never, later)
}

// ConsentSummary summarizes the items.
func ConsentSummary(wishes []ConsentItem) string {
	agents := 0
	for _, w := range wishes {
		if w.Agent {
			agents++
		}
	}
	var parts []string
	if agents > 0 {
		parts = append(parts, "brings "+text.Count(agents, "agent"))
	}
	if n := len(wishes) - agents; n > 0 {
		parts = append(parts, "wants to run "+text.Count(n, "command"))
	}
	return strings.Join(parts, " and ")
}

// longestScript is the most lines of a file that is shown.
const longestScript = 40

// A Script is a file that an item names.
type Script struct {
	Path  string // below the folder
	Text  string // "" if it is too long or can't be read
	Lines int
	Err   error // why it can't be read
}

// Long reports whether the file is too long to be shown.
func (s Script) Long() bool { return s.Lines > longestScript }

// Scripts reads the files that an item names.
func (w ConsentItem) Scripts(folder string) (list []Script) {
	for _, name := range w.Files {
		b, err := disk.Read(name, 1<<20)
		s := Script{Lines: strings.Count(string(b), "\n") + 1, Err: err}
		s.Path, _ = filepath.Rel(folder, name)
		if err == nil && !s.Long() {
			s.Text = string(b)
		}
		list = append(list, s)
	}
	return list
}
