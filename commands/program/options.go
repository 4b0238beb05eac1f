package program

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/redact"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/shell/script"
	"gemline/tools/workspace"
)

// Options are what is wanted in a directory: what the command line, the
// environment and the files of settings say, in one. Nothing is made of them
// yet.
type Options struct {
	os           Process
	flags        *flags.Set
	paths        project.Paths
	settings     *settings.Settings
	userSettings *settings.Settings // what they are without the project's
	warnings     []string           // about the settings, told once
	loadError    error              // why the settings are not what the files mean; a run has ended with it
	trust        trust.Status
	agreed       *agreements // about what the project wants to run
	hooks        *hookSet    // nil until they are looked for
	discovery    *discovery  // likewise
	served       *serverSet  // likewise
	agentSet     *agentSet   // likewise
	dotenv       settings.DotEnv
	interactive  bool              // a person sits at the terminal
	serving      *cli.Serving      // other programs; nil if it does not
	editor       workspace.Editor  // that has files open
	named        []settings.Server // MCP servers that the editor names
	tree         string            // the name of the worktree that was made to work in, "" for none
	secrets      *redact.Redactor  // what is kept out of all that is stored, told and sent
	ledger       *disk.Ledger      // of the files that are being written
	kept         *sync.Map         // values of the settings of extensions, by where these are
}

// readHere finds out what the user wants in the working directory.
func (o *Options) readHere(managed bool) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working directory can't be used: %w; go to another one", err)
	}
	return o.read(here, managed)
}

// In returns what is wanted in another directory, by the same command line and
// environment. Nobody is asked whether it is trusted.
func (o *Options) In(dir string) (*Options, error) {
	in := *o
	in.interactive, in.agentSet = false, nil
	return &in, in.move(dir)
}

// read finds out what is wanted in a directory: what the files say, unless the
// environment, and then the command line, says otherwise. What is managed
// needs no trust, and mends broken files.
func (o *Options) read(dir string, managed bool) error {
	o.kept, o.agreed = &sync.Map{}, o.newAgreements()
	home, _ := os.UserHomeDir() // without one, nothing is kept
	o.paths = project.New(home, o.os.getenv("GEMINI_CLI_HOME"), dir)
	err := o.load(false)
	if err != nil && !managed || o.flags.ListSessions || o.flags.ListExtensions {
		return err
	}
	o.loadError = err
	o.trust, err = trust.Decide(o.paths, o.settings, o.flags, o.lookup)
	switch {
	case managed:
		if err == nil && o.trust.State == trust.Trusted {
			o.loadError = o.load(true) // what is wrong with a file is for the sub-command to say
		}
		return nil
	case err != nil:
		return err
	case o.trust.State == trust.Trusted:
		err = o.load(true)
		if o.flags.Trust {
			if err := trust.Folders(o.paths, o.lookup).Keep(context.Background(), o.trust.Folder); err != nil {
				o.warnings = append(o.warnings, unkept(err))
			}
		}
		return err
	case o.consulted():
		return nil // the user is asked
	case o.flags.ACP:
		return nil // what the folder brings is not used
	}
	return o.trust.Refuse()
}

// load reads the files of settings, the project's among them if it is trusted.
func (o *Options) load(project bool) (err error) {
	o.settings, o.warnings, err = settings.Load(settings.Sources(o.paths, o.os.Lookup, project), o.os.Lookup)
	vars, warnings := o.settings.DotEnv(o.paths, project, o.os.Lookup)
	o.dotenv = vars
	learnSecrets(o)
	o.warnings = append(o.warnings, warnings...)
	if name := o.settings.FileEncoding; name != "" && charset.Name(name) == "" {
		o.warnings = append(o.warnings, fmt.Sprintf("tools.fileEncoding: there is no encoding %q; "+
			"known are such as windows-1251, gbk, shift_jis", name))
	}
	if !project {
		o.userSettings = o.settings
		learnSettings(o)
	}
	for _, name := range []string{"DEBUG", "DEBUG_MODE"} { // as the Gemini CLI has it
		o.flags.Debug = o.flags.Debug || slices.Contains([]string{"true", "1"}, o.getenv(name))
	}
	if project {
		for _, path := range o.projectPlaces() {
			if why := settings.Astray(path, o.paths.Cwd); why != "" {
				o.warnings = append(o.warnings, text.EscapeLine(path+" is passed over: "+why))
			}
		}
	}
	return cmp.Or(err, o.settings.Override(o.flags, o.lookup), o.settings.Unclear())
}

// projectPlaces returns where a project has what is read beside its settings and its .env.
func (o *Options) projectPlaces() (list []string) {
	for _, name := range []string{"skills", "agents", "commands", "policies", "system.md"} {
		list = append(list, o.paths.Workspace(name))
	}
	return append(list, filepath.Join(o.paths.Cwd, ".agents", "skills"), filepath.Join(o.paths.Cwd, ".mcp.json"))
}

// brings reports whether what a trusted project has at a place counts: no link leads out
// of the project.
func (o *Options) brings(path string) bool {
	return o.trust.State == trust.Trusted && !o.paths.AtHome() && settings.Astray(path, o.paths.Cwd) == ""
}

// charsets returns what decodes texts: by the settings and the user's language.
func (o *Options) charsets() charset.Decoder {
	return charset.New(o.settings.FileEncoding, cmp.Or(o.os.getenv("LC_ALL"), o.os.getenv("LC_CTYPE"), o.os.getenv("LANG")))
}

// lookup returns a variable of the environment or else of the .env files, as it counts
// for gemline itself.
func (o *Options) lookup(name string) (string, bool) {
	if v, ok := o.os.Lookup(name); ok {
		return v, true
	}
	v, ok := o.dotenv.Lookup(name)
	return v.Value, ok
}

// environ returns the user's environment: that of the process, and below it what the user's
// own .env files set.
func (o *Options) environ() []string { return append(envList(o.dotenv.User), o.os.Environ()...) }

// projectEnviron returns what the project's own .env file sets, for what the project
// brings and the user has agreed to.
func (o *Options) projectEnviron() []string { return envList(o.dotenv.Project) }

// envList returns variables as the environment has them.
func envList(vars map[string]settings.EnvValue) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name].Value)
	}
	return list
}

// chosen says which conversation is gone on with.
func (o *Options) chosen() journal.Choice {
	return journal.Choice{Resume: o.flags.Resume.Set, Which: o.flags.Resume.Value, Fork: o.flags.Fork,
		Session: o.flags.Session, ID: o.flags.SessionID, Import: o.flags.SessionFile}
}

func (o *Options) getenv(name string) string {
	v, _ := o.lookup(name)
	return v
}

// severalAnswers reports whether there may be more than one answer, each with its
// own time.
func (o *Options) severalAnswers() bool {
	return o.interactive || o.flags.Talks() || o.flags.ACP || o.serving != nil
}

// signs are what the mode of a terminal depends on.
func (o *Options) signs() output.Signs {
	flag, off := o.flags.PlainFlag()
	return output.Signs{Flag: flag, FlagOff: off, Setting: &o.settings.ScreenReader, Terminal: true,
		Lookup: o.os.Lookup}
}

// attended reports whether anybody is there to ask.
func (o *Options) attended() bool { return o.interactive || o.flags.AskTTY }

// consulted reports whether anybody is asked about what the folder brings.
func (o *Options) consulted() bool { return o.attended() || o.flags.AskTrust }

// answered reports whether the model's questions are, by a person or a program.
func (o *Options) answered() bool {
	return o.attended() || (o.flags.Talks() || o.flags.ACP) && !o.flags.NoInput
}

// move goes to another directory.
func (o *Options) move(dir string) error {
	o.warnings, o.dotenv, o.hooks, o.discovery, o.served = nil, settings.DotEnv{}, nil, nil, nil
	return o.read(dir, false)
}

// inTree returns what stands before a command of the user's, so that it runs in the
// worktree that the run has made.
func (o *Options) inTree() string {
	if o.tree == "" {
		return ""
	}
	return "cd " + script.Quote(o.paths.Cwd) + " && "
}

// systemMD returns what a variable says of a file with the system prompt. Switched on without
// a path, it means a file of the project's, which may be no link out of it.
func (o *Options) systemMD(name string) string {
	v := o.getenv(name)
	reads := name == "GEMINI_SYSTEM_MD"
	if on := strings.ToLower(v); (on == "1" || on == "true") &&
		(reads && o.trust.State < trust.Unneeded || settings.Astray(o.paths.Workspace("system.md"), o.paths.Cwd) != "") {
		return ""
	}
	return v
}

// wide says which directory that is no project is worked in, "" if it is another one.
func (o *Options) wide() string {
	switch dir := o.paths.Folder(""); {
	case o.paths.AtHome():
		return "your home directory"
	case filepath.Dir(dir) == dir:
		return "the root directory"
	}
	return ""
}

// mayUse returns why an approval mode can't be used here, nil if it can.
func (o *Options) mayUse(m policy.Mode) error {
	untrusted := o.trust.State < trust.Unneeded
	switch {
	case !slices.Contains(policy.Modes[:], m):
		return &commands.Error{Misused: true,
			Message: fmt.Sprintf("there is no approval mode %.40q; there are: default, auto_edit, auto, plan and yolo", m)}
	case m == policy.Plan && !o.settings.PlanMode:
		return &commands.Error{Message: "general.plan.enabled in the settings switches the approval mode plan off"}
	case m == policy.Yolo && o.settings.NoYolo:
		return &commands.Error{Message: "security.disableYoloMode in the settings forbids the approval mode yolo"}
	case m == policy.Auto && o.wide() != "":
		return fmt.Errorf("the approval mode auto can't be used in %s; start in the folder of a project", o.wide())
	case untrusted && (m == policy.Yolo || m == policy.AutoEdit || m == policy.Auto):
		return fmt.Errorf("this folder is not trusted, so edits and commands are asked about; "+
			"gemline trust add lets the next session use %s", m)
	}
	return nil
}

// unused lists what is set up and not in use yet.
func (o *Options) unused() []settings.Unused {
	return o.settings.Unused(o.lookup)
}

// folder returns the directory as sub-commands see it.
func (o *Options) folder() *cli.Folder {
	return &cli.Folder{Today: o.os.Today, Paths: o.paths, Lookup: o.lookup, DotEnv: o.dotenv, Flags: o.flags,
		Trusted: o.trust.State == trust.Trusted, Withheld: o.trust.State < trust.Unneeded, Unused: o.unused}
}
