package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/repl/output"
	"gemline/settings"
)

// checks returns what is looked at, in the order in which it is told.
func (c *doctorCommand) checks() []check {
	list := []check{
		{"version", func(_ context.Context, w *World) finding { return w.checkVersion() }},
		{"terminal", func(_ context.Context, w *World) finding { return w.checkTerminal() }},
		{"colour", func(_ context.Context, w *World) finding { return w.checkColour() }},
		{"text", func(_ context.Context, w *World) finding { return w.checkText() }},
		{"home", func(_ context.Context, w *World) finding { return w.checkHome() }},
		{"settings", func(_ context.Context, w *World) finding { return w.checkSettings() }},
		{"trust", func(_ context.Context, w *World) finding { return w.checkTrust() }},
		{"rules", func(_ context.Context, w *World) finding { return w.checkRules() }},
		{"credentials", func(ctx context.Context, w *World) finding { return w.checkCredentials(ctx, c.Deep) }},
		{"network", func(_ context.Context, w *World) finding { return w.checkNetwork() }},
		{"git", func(ctx context.Context, w *World) finding {
			return w.program(ctx, "git", "the model can't see what has changed; install git", "--version")
		}},
		{"ripgrep", func(ctx context.Context, w *World) finding {
			return w.program(ctx, "rg", "searches take longer; install ripgrep", "--version")
		}},
		{"shell", func(context.Context, *World) finding { return checkShell() }},
		{"editor", func(_ context.Context, w *World) finding { return w.checkEditor() }},
		{"clipboard", func(_ context.Context, w *World) finding { return w.checkClipboard() }},
		{"disk", func(_ context.Context, w *World) finding { return w.checkDisk() }},
		{"sessions", func(ctx context.Context, w *World) finding { return w.checkSize(ctx) }},
		{"clock", func(_ context.Context, w *World) finding { return checkClock(w.Build, time.Now()) }},
		{"sandbox", func(_ context.Context, w *World) finding { return w.checkSandbox() }},
	}
	if c.Online {
		list = append(list, check{"server", func(ctx context.Context, w *World) finding { return w.checkServer(ctx) }})
	}
	return list
}

func (w *World) checkVersion() finding {
	b := w.Build
	commit := ""
	if b.Commit != "" {
		commit = " " + b.Commit[:min(12, len(b.Commit))]
	}
	return fine("gemline %s%s, %s, %s/%s", b.Version, commit, b.Go, b.OS, b.Arch)
}

// mode returns how a session would write.
func (w *World) mode() output.Mode {
	flag, off := w.Flags.PlainFlag()
	signs := output.Signs{Flag: flag, FlagOff: off, Terminal: w.Terminal, Lookup: w.Lookup}
	if s, err := w.settings(); err == nil {
		signs.Setting = &s.ScreenReader
	}
	return output.Decide(signs)
}

// settings returns what the files say.
func (w *World) settings() (*settings.Settings, error) {
	s, _, err := settings.Load(w.Paths.Sources(w.environment, w.Trusted), w.environment)
	return s, err
}

func (w *World) checkTerminal() finding {
	m := w.mode()
	term := cmp.Or(w.getenv("TERM"), "not set")
	switch {
	case m.Asked:
		return fine("screen reader mode (%s)", m.Cause)
	case m.Smart:
		return fine("smart mode, TERM is %s", term)
	}
	return fine("plain mode (%s)", m.Cause)
}

func (w *World) checkColour() finding {
	if w.mode().Color {
		return fine("on; NO_COLOR=1 turns it off")
	}
	for _, name := range []string{"NO_COLOR", "FORCE_COLOR", "CLICOLOR"} {
		if v := w.getenv(name); w.mode().Smart && v != "" {
			return fine("off (%s)", name)
		}
	}
	return fine("off")
}

// checkText looks whether the terminal is told to be shown UTF-8.
func (w *World) checkText() finding {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := w.getenv(name)
		if v == "" {
			continue
		}
		if strings.Contains(strings.ReplaceAll(strings.ToLower(v), "-", ""), "utf8") || runtime.GOOS == "windows" {
			return fine("UTF-8 (%s=%s)", name, v)
		}
		return worse(Warning, "--ascii shows everything in ASCII", "%s=%s is not UTF-8, and gemline writes UTF-8", name, v)
	}
	return fine("UTF-8; no locale is set")
}

// checkHome looks whether something can be kept.
func (w *World) checkHome() finding {
	const next = "settings and sessions are not kept; GEMINI_CLI_HOME names another place"
	if w.Paths.Home == "" {
		return worse(Warning, next, "no home directory")
	}
	dir := w.Paths.User()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir = w.Paths.Home // where it would be made
	}
	f, err := os.CreateTemp(dir, ".gemline-doctor-")
	if err != nil {
		return worse(Warning, next, "%s can't be written to: %s", dir, cause(err))
	}
	f.Close()
	os.Remove(f.Name())
	return fine("%s can be written to", dir)
}

// cause returns what the system said, without the path.
func cause(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func (w *World) checkSettings() finding {
	used, odd := 0, 0
	for _, src := range w.Paths.Sources(w.environment, true) {
		f, err := w.examine(src)
		switch {
		case err != nil:
			return worse(Problem, "fix or remove it", "%s", err)
		case f.State == stateUsed:
			used++
			odd += len(f.Problems)
		case f.State == statePassed:
			odd++
		}
	}
	if s, err := w.settings(); err == nil && s.Unclear() != nil {
		return worse(Problem, "gemline config set fixes it", "%s", s.Unclear())
	}
	files := fmt.Sprintf("%d files", used)
	if used == 1 {
		files = "1 file"
	}
	if odd > 0 {
		return worse(Warning, "gemline config validate lists them", "%s, %d to look at", files, odd)
	}
	return fine("%s, nothing is wrong", files)
}

// unread is the finding where the settings have to be mended first.
func unread() finding { return worse(Warning, "", "not known while the settings can't be used") }

// checkRules says whether the rules for what may run are understood.
func (w *World) checkRules() finding {
	_, p, err := w.Toolset()
	if file := (*settings.FileError)(nil); errors.As(err, &file) {
		return unread()
	}
	if err != nil {
		return worse(Problem, "fix or remove it; gemline help policy says what rules are", "%s", err)
	}
	own := 0
	for _, r := range p.Rules() {
		if r.Tier != policy.BuiltIn {
			own++
		}
	}
	if own == 0 {
		return fine("the built-in ones only")
	}
	return fine("the built-in ones and %d more; gemline policy lists them", own)
}

func (w *World) checkTrust() finding {
	if _, err := w.settings(); err != nil {
		return unread()
	}
	t, err := w.trust(w.Paths.Cwd)
	switch {
	case err != nil:
		return worse(Problem, "fix or remove it", "%s", err)
	case t.State == settings.Trusted:
		return fine("%s is trusted, by %s", t.Folder, t.Why)
	case t.State == settings.Unneeded:
		return fine("%s brings nothing that needs it", t.Folder)
	}
	return worse(Warning, "gemline trust status says what it brings, gemline trust add trusts it", "%s is not trusted, and nothing of it is used", t.Folder)
}

// checkCredentials says what pays for requests. Keys are never shown.
func (w *World) checkCredentials(ctx context.Context, deep bool) finding {
	if _, err := w.settings(); err != nil {
		return unread()
	}
	c, err := w.choose()
	var st standing
	inRing := c.Stored && w.getenv("GEMINI_FORCE_FILE_STORAGE") == "" && (runtime.GOOS != "linux" || w.getenv("DBUS_SESSION_BUS_ADDRESS") != "")
	if err == nil {
		seen := *w
		if !deep { // the keyring may ask the user something
			seen.Lookup = func(name string) (string, bool) {
				if name == "GEMINI_FORCE_FILE_STORAGE" {
					return "true", true
				}
				return w.Lookup(name)
			}
		}
		err = st.find(ctx, &seen, c)
	}
	var wrong *auth.Error
	switch {
	case err != nil && inRing && !deep:
		return worse(Warning, "gemline doctor --deep looks in the keyring, too", "no key in the environment or in a file")
	case errors.As(err, &wrong):
		return worse(Problem, wrong.Hint, "%s", wrong.Message)
	case err != nil:
		return worse(Problem, "", "%s", err)
	}
	where := cmp.Or(c.KeyFrom, st.Credential)
	if where != "" {
		where = ", from " + where
	}
	return fine("%s%s", c.Method, where)
}

// checkNetwork looks at the address, the proxies and the certificates. It asks
// nobody.
func (w *World) checkNetwork() finding {
	c, _ := w.choose() // told elsewhere
	o := model.Options{APIKey: "unused", BaseURL: c.BaseURL, Proxy: model.ProxyFrom(w.getenv), CAs: model.CAsFrom(w.getenv)}
	if _, err := model.NewGenai(o); err != nil {
		next := ""
		if me := (*model.Error)(nil); errors.As(err, &me) {
			next = me.Hint
		}
		return worse(Problem, next, "%s", err)
	}
	for _, path := range o.CAs {
		f, err := os.Open(path)
		if err != nil {
			return worse(Problem, "SSL_CERT_FILE, SSL_CERT_DIR or NODE_EXTRA_CA_CERTS names it", "certificates: %s: %s", path, cause(err))
		}
		f.Close()
	}
	slices.Sort(o.CAs)
	o.CAs = slices.Compact(o.CAs) // two variables may name one file
	text := "no proxy"
	if p := cmp.Or(o.Proxy.HTTPSProxy, o.Proxy.HTTPProxy); p != "" {
		text = "proxy " + masked(p)
	}
	if len(o.CAs) > 0 {
		text += fmt.Sprintf(", more certificates: %s", strings.Join(o.CAs, ", "))
	}
	if address := c.Address(); address != "" {
		text += ", address " + address
	}
	return fine("%s", text)
}

// masked returns an address without its password.
func masked(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "that is set"
	}
	return u.Redacted()
}

// program looks for a program and asks which version it has.
func (w *World) program(ctx context.Context, name, missing string, args ...string) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return worse(Warning, "", "%s is not there: %s", name, missing)
	}
	const patience = 10 * time.Second
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = w.Environ
	cmd.WaitDelay = time.Second // whatever it has left running
	out, err := cmd.Output()
	if err != nil {
		return worse(Warning, "", "%s does not run: %s", path, err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return fine("%s (%s)", first, path)
}

func checkShell() finding {
	names := []string{"bash", "sh", "/bin/bash", "/bin/sh"}
	if runtime.GOOS == "windows" {
		names = []string{"powershell.exe"}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return fine("%s", path)
		}
	}
	return worse(Warning, "install bash", "there is none: no command can be run")
}

func (w *World) checkEditor() finding {
	words := strings.Fields(w.Editor)
	if len(words) == 0 {
		return worse(Warning, "general.preferredEditor, VISUAL or EDITOR names one", "there is none, so that the answer e is not offered")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return worse(Warning, "general.preferredEditor, VISUAL or EDITOR names another", "%s is not there", words[0])
	}
	return fine("%s", path)
}

func (w *World) checkClipboard() finding {
	if w.Clipboard != nil {
		if name := w.Clipboard(); name != "" {
			return fine("%s", name)
		}
	}
	if w.mode().Marks {
		return fine("that of the terminal, if it has one (OSC 52)")
	}
	return fine("none here; /copy has nowhere to copy to")
}

// What a disk should have left, in bytes.
const (
	scarce = 200 << 20
	none   = 1 << 20
)

func (w *World) checkDisk() finding {
	for _, dir := range []string{w.Paths.Cwd, w.Paths.Home, os.TempDir()} {
		if dir == "" {
			continue
		}
		free, err := freeSpace(dir)
		switch {
		case err != nil:
			return worse(Warning, "", "%s: %s", dir, cause(err))
		case free < none:
			return worse(Problem, "make room", "no space is left in %s", dir)
		case free < scarce:
			return worse(Warning, "make room", "%d MB are left in %s", free>>20, dir)
		}
	}
	return fine("enough space")
}

// checkSize adds up what is kept about sessions, as far as it gets.
func (w *World) checkSize(ctx context.Context) finding {
	const (
		much = 1 << 30
		many = 100_000
	)
	dir := w.Paths.User("tmp")
	if dir == "" {
		return fine("none are kept")
	}
	var size int64
	files := 0
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // what can't be read is not counted
		if err != nil || e.IsDir() {
			return ctx.Err()
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		if files++; files >= many {
			return fs.SkipAll
		}
		return ctx.Err()
	})
	if size > much || files >= many {
		return worse(Warning, "gemline sessions delete removes some", "%d MB in %d files in %s", size>>20, files, dir)
	}
	return fine("%d MB in %d files in %s", size>>20, files, dir)
}

// checkClock compares the clock with what can't be later than now.
func checkClock(b Build, now time.Time) finding {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if built, err := time.Parse(time.RFC3339, b.Date); err == nil {
		since = built.Add(-24 * time.Hour)
	}
	if now.Before(since) {
		return worse(Problem, "set it: servers refuse to be asked in the past", "it says %s, which is before this program was made", now.Format(time.DateOnly))
	}
	return fine("%s", now.Format(time.RFC3339))
}

// checkServer asks the server for its list of models.
func (w *World) checkServer(ctx context.Context) finding {
	start := time.Now()
	list, err := w.onServer(ctx)
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		next := ""
		if me := (*model.Error)(nil); errors.As(err, &me) {
			next = me.Hint
		} else if ae := (*auth.Error)(nil); errors.As(err, &ae) {
			next = ae.Hint
		}
		return worse(Problem, next, "%s (after %s)", err, took)
	}
	return fine("it lists %d for conversations, in %s", len(list), took)
}
