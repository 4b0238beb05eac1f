package front

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"gemline/commands/program/project"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/repl"
	"gemline/repl/attach"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// share lets other terminals reach the session, until end is called.
func (i *interactive) share() (end func()) {
	if i.frontend.run.store.Temp == "" {
		return func() {}
	}
	folder := i.opts.Paths.Cwd
	i.frontend.hub = attach.NewHub(attach.Config{Dir: socketsIn(i.frontend.run.store.Temp),
		Info: func() attach.Info {
			return attach.Info{ID: i.frontend.run.Status.Session.Load().ID(), Folder: folder, PID: os.Getpid()}
		},
		Interrupt: func() {
			select {
			case i.interrupts <- os.Interrupt:
			default:
			}
		},
		Warn: func(text string) { i.screen.Show(func() { i.frontend.notify(text) }) },
	})
	i.screen.Console.Sharing.Hub, i.screen.Console.Sharing.Detach = i.frontend.hub, i.detach
	i.screen.Console.Out.CopyTo(i.frontend.hub.Print)
	return i.frontend.hub.Close
}

// detach lets the session continue without its terminal.
func (i *interactive) detach() error {
	return i.screen.Detach(repl.LeaveOptions{
		Files: slices.DeleteFunc([]*os.File{i.opts.Env.Process.Stdin, i.opts.Env.Process.Stdout, i.opts.Env.Process.Stderr},
			func(f *os.File) bool { return !isTerminal(f) }),
		Say: func(shell bool) {
			how := ""
			if !shell {
				how = ", and nothing waits for this terminal, which may be closed"
			}
			i.screen.Console.Out.Line(output.Info, "detached; the session goes on%s: gemline attach %s comes back, from any login of yours", how, text.ShortID(i.frontend.session.Journal.File.ID()))
		},
		Resume: shell.ResumeBehind,
	})
}

// attach shows a live session at the terminal of a sub-command.
func (t terminal) attach(ctx context.Context, c *attach.Conn) error {
	mode := output.Decide(t.opts.Signs())
	out := output.New(t.opts.Env.Process.Stdout, output.Options{Color: mode.Color, ASCII: t.opts.Settings.ASCII || output.OnlyASCII(t.opts.Env.Process.Lookup)})
	if mode.Smart {
		out.Wrap(t.columns)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	_, echoed := t.opts.Env.Process.Lookup("INSIDE_EMACS")
	const stdin = "/proc/self/fd/0"
	name := disk.ResolveLinks(stdin)
	if name == stdin {
		name = "its name is not known here"
	}
	keys, _ := readKeymap(t.opts.Paths) // the session prints its problems
	shown := attach.Terminal{Out: out, Interrupts: interrupts, Name: name,
		Lines: repl.LinesConfig{In: t.opts.Env.Process.Stdin, Screen: t.opts.Env.Process.Stdout,
			Mode:   output.Mode{Smart: mode.Smart, Limited: mode.Limited},
			Echoed: echoed, Decode: charset.Typed(project.Locale(t.opts)), NoEcho: t.opts.Flags.NoEcho, Jobs: true, Keymap: keys}}
	return shown.Show(ctx, c)
}

// socketsIn returns the directory of the sockets of a project's sessions, below its stored state at temp.
func socketsIn(temp string) string { return filepath.Join(temp, "sockets") }

// SurvivesHangup reports whether the session continues although its terminal has gone away.
func (r *Run) SurvivesHangup() bool {
	screen := r.screen.Load()
	return screen != nil && screen.Console.Sharing.HungUp()
}
