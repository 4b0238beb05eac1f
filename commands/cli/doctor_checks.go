package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/network"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/jsonc"
	"gemline/settings/trust"
	"gemline/tools/launch"
)

// checks returns the checks, in the order of the output.
func (c *doctorCommand) checks() []check {
	list := []check{
		{"version", at((*doctor).checkVersion)},
		{"terminal", at((*doctor).checkTerminal)},
		{"home", at((*doctor).checkHome)},
		{"settings", at((*doctor).checkSettings)},
		{"trust", at((*doctor).checkTrust)},
		{"rules", at((*doctor).checkRules)},
	}
	for _, kind := range []string{"model", "instructions", "directories", "context", "plans", "hooks", "extensions", "agents",
		"commands", "skills", "keys", "env", "servers", "telemetry"} {
		list = append(list, check{kind, at(func(d *doctor) finding { return d.about(kind) })})
	}
	list = append(list, []check{
		{"credentials", (*doctor).checkCredentials},
		{"network", at((*doctor).checkNetwork)},
		{"git", program("git", "the model can't see what has changed; install git")},
		{"ripgrep", program("rg", "searches take longer; install ripgrep")},
		{"sessions", at((*doctor).checkSessions)},
		{"sandbox", (*doctor).checkSandbox},
	}...)
	if c.Online {
		list = append(list, check{"server", (*doctor).checkServer})
	}
	return list
}

// at adapts a check that takes no time.
func at(look func(*doctor) finding) func(*doctor, context.Context) finding {
	return func(d *doctor, _ context.Context) finding { return look(d) }
}

func (d *doctor) checkVersion() finding {
	b := d.build
	commit := ""
	if b.Commit != "" {
		commit = " " + b.Commit[:min(12, len(b.Commit))]
	}
	return fine("gemline %s%s, %s, %s/%s", b.Version, commit, b.Go, b.OS, b.Arch)
}

// mode returns the terminal mode of a session.
func (d *doctor) mode() output.Mode {
	flag, off := d.here.Flags.PlainFlag()
	signs := output.Signs{Flag: flag, FlagOff: off, Terminal: d.out.Terminal, Lookup: d.here.Lookup}
	if s, err := d.here.settings(); err == nil {
		signs.Setting = &s.ScreenReader
	}
	return output.Decide(signs)
}

func (d *doctor) checkTerminal() finding {
	m := d.mode()
	term := cmp.Or(d.here.getenv("TERM"), "not set")
	switch {
	case m.Asked && m.Cause != "--plain":
		return fine("screen reader mode (%s)", m.Cause)
	case m.Smart:
		return fine("smart mode, TERM is %s", term)
	}
	return fine("plain mode (%s)", m.Cause)
}

// checkHome checks whether gemline can store files.
func (d *doctor) checkHome() finding {
	const next = "settings and sessions are not stored; GEMINI_CLI_HOME names another place"
	if d.here.Paths.Home == "" {
		return worse(warning, next, "no home directory")
	}
	dir := d.here.Paths.User()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir = d.here.Paths.Home // the directory does not exist yet
	}
	f, err := os.CreateTemp(dir, ".gemline-doctor-")
	if err != nil {
		return worse(warning, next, "%s can't be written to: %s", dir, disk.Cause(err))
	}
	f.Close()
	os.Remove(f.Name())
	return fine("%s can be written to", dir)
}

func (d *doctor) checkSettings() finding {
	used, odd := 0, 0
	for _, f := range d.here.examine(settings.Sources(d.here.Paths, d.here.environment, true)) {
		switch {
		case f.err != nil:
			return worse(failing, "fix or remove it", "%s", f.err)
		case f.State == stateUsed:
			used++
			odd += len(f.Problems)
		case f.State == statePassed:
			odd++
		}
	}
	together := d.found("settings")
	if together.Status == failing {
		if s, err := d.here.settings(); err == nil && s.StrictError() != nil { // otherwise a variable may be wrong
			together.Next = "gemline config set fixes it"
		}
		return together
	}
	files := text.Count(used, "file")
	if odd > 0 {
		return worse(warning, "gemline config validate lists them", "%s, %d to look at", files, odd)
	}
	if together.Status != healthy {
		return together
	}
	return fine("%s, nothing is wrong", files)
}

// unread is the finding of checks that need valid settings.
func unread() finding { return worse(warning, "", "not known while the settings can't be used") }

// checkRules reports whether the policy rules are understood.
func (d *doctor) checkRules() finding {
	f := d.found("rules") // before Rules, which then does not print the same problems
	p, err := d.project.Rules()
	if file := (*jsonc.Error)(nil); errors.As(err, &file) {
		return unread()
	}
	if err != nil {
		return worse(failing, "fix or remove it; gemline help policy says what rules are", "%s", err)
	}
	if f.Status != healthy {
		return f
	}
	own := len(lists.Filter(p.Rules(), func(r policy.Rule) bool { return r.Tier != policy.BuiltIn }))
	if own == 0 {
		return fine("the built-in ones only")
	}
	return fine("the built-in ones and %d more; gemline policy lists them", own)
}

// about returns a check of files of a kind.
func (d *doctor) about(kind string) finding {
	if _, err := d.here.settings(); err != nil {
		return unread()
	}
	return d.found(kind)
}

// found returns the problems that a run would print about files of a kind.
func (d *doctor) found(kind string) finding {
	of := slices.DeleteFunc(slices.Clone(d.project.Problems()), func(p Problem) bool { return p.About != kind })
	switch n := len(of); {
	case n == 0:
		return fine("nothing is wrong")
	case of[0].Err != nil:
		return worse(failing, of[0].Next, "%s", of[0].Message)
	case n == 1:
		return worse(warning, "", "%s", of[0].Message)
	default:
		return worse(warning, "gemline config validate lists them", "%s, and %d more", of[0].Message, n-1)
	}
}

func (d *doctor) checkTrust() finding {
	if _, err := d.here.settings(); err != nil {
		return unread()
	}
	t, err := d.here.trust(d.here.Paths.Cwd)
	switch {
	case err != nil:
		return worse(failing, "fix or remove it", "%s", err)
	case t.State == trust.Trusted:
		return fine("%s is trusted, by %s", t.Folder, t.Why)
	case t.State == trust.Unneeded:
		return fine("%s brings nothing that needs it", t.Folder)
	}
	return worse(warning, cmp.Or(t.WhyForbidden(), "gemline trust status shows its files, gemline trust add trusts it"),
		"%s is not trusted, and nothing of it is used", t.Folder)
}

// checkCredentials names the credential for requests. It shows no key.
func (d *doctor) checkCredentials(ctx context.Context) finding {
	if _, err := d.here.settings(); err != nil {
		return unread()
	}
	c, err := d.here.choose(d.out)
	var st authRecord
	name := d.here.otherProvider(c)
	if name != "" {
		var all model.Providers
		if all, err = d.here.providers(); err == nil {
			st, err = providerStatus(ctx, d.here, name, all)
		}
	} else if err == nil {
		err = st.find(ctx, d.here, c)
	}
	switch {
	case st.Provider != name:
		return worse(warning, "", "not looked for: the provider of the model is not known")
	case err != nil:
		return worse(failing, Hint(err), "%s", err)
	}
	if name != "" {
		return fine("%s: %s", name, st.Credential)
	}
	if c.Instead != "" {
		return worse(warning, "gemline auth use TYPE chooses", "%s", c.Instead)
	}
	where := cmp.Or(c.Key.From, st.Credential)
	if where != "" {
		where = ", from " + where
	}
	return fine("%s%s", c.Method, where)
}

// Hint returns the advice of an error.
func Hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// checkNetwork checks the address, the proxies and the certificates. It sends no request.
func (d *doctor) checkNetwork() finding {
	c, _ := d.here.choose(d.out) // another check reports the error
	o, err := d.here.reach(c.BaseURL.Value)
	if err != nil {
		return worse(failing, Hint(err), "%s", err)
	}
	if _, err := network.Trust(o.Network.CAs); err != nil {
		return worse(failing, "SSL_CERT_FILE, SSL_CERT_DIR or NODE_EXTRA_CA_CERTS names it", "certificates: %v", err)
	}
	slices.Sort(o.Network.CAs)
	o.Network.CAs = slices.Compact(o.Network.CAs) // two variables may name the same file
	said := "no proxy"
	if p, _ := o.Network.ProxyFor(&url.URL{Scheme: "https", Host: "example.com"}); p != nil {
		said = "proxy " + text.PublicAddress(p)
	}
	if len(o.Network.CAs) > 0 {
		said += ", more certificates: " + strings.Join(o.Network.CAs, ", ")
	}
	if address := c.Address(); address != "" {
		said += ", address " + address
	}
	return fine("%s", said)
}

// reach returns the options for requests to an address, "" for the default address. It returns an
// error if the address or the proxy's address is invalid.
func (here *Folder) reach(address string) (model.Options, error) {
	o := model.Options{APIKey: "unused", BaseURL: address, Network: network.From(here.getenv)}
	_, err := model.NewGenai(o)
	return o, err
}

// program returns a check that finds a program and asks for its version.
func program(name, missing string) func(*doctor, context.Context) finding {
	return func(d *doctor, ctx context.Context) finding {
		path, err := exec.LookPath(name)
		if err != nil {
			return worse(warning, "", "%s is not there: %s", name, missing)
		}
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = d.environ
		cmd.WaitDelay = time.Second // the program may leave processes behind
		out, err := cmd.Output()
		if err != nil {
			return worse(warning, "", "%s does not run: %s", path, err)
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fine("%s (%s)", first, path)
	}
}

// checkSessions checks for damaged session files.
func (d *doctor) checkSessions() finding {
	store, _ := d.here.Paths.Registered()
	if err := d.here.Paths.CheckRegistry(); err != nil {
		return worse(warning, "", "%s", err)
	}
	if bad := journal.Damaged(store.Chats()); len(bad) > 0 {
		return worse(warning, "gemline sessions list names all of them", "%s", bad[0])
	}
	return fine("nothing is wrong")
}

// checkServer requests the server's list of models.
func (d *doctor) checkServer(ctx context.Context) finding {
	start := time.Now()
	c, _ := d.here.choose(d.out) // another check reports the error
	set := d.providers()
	defer set.Close()
	list, err := onServer(ctx, cmp.Or(d.here.otherProvider(c), model.Gemini), d.api, set)
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		return worse(failing, Hint(err), "%s (after %s)", err, took)
	}
	return fine("it lists %d for conversations, in %s", len(list), took)
}

// checkSandbox names the sandbox of commands.
func (d *doctor) checkSandbox(ctx context.Context) finding {
	const status = "gemline sandbox status says more"
	c, err := d.project.Launcher()
	if file := (*jsonc.Error)(nil); errors.As(err, &file) {
		return unread()
	}
	if err != nil {
		return worse(failing, Hint(err), "%s", err)
	}
	if k := c.Container(); k != nil {
		if err := k.CheckEngine(ctx); err != nil {
			return worse(failing, "start it, or use --sandbox=kernel, which needs no engine", "%s", err)
		}
	}
	st := c.State()
	switch {
	case c.FallbackNotice != nil:
		return worse(warning, c.FallbackNotice.Advice, "%s", c.FallbackNotice)
	case st.Confined():
		return fine("%s: %s%s", st.Name, st.Step, d.unmasked(c))
	case st.Files:
		return worse(warning, status, "%s: %s; commands may reach the network", st.Name, st.Step)
	}
	return worse(warning, status, "%s: %s; commands that are allowed run with all your rights",
		st.Name, cmp.Or(st.Step, "nothing is in force"))
}

// unmasked lists programs that commands can run although rules deny them.
func (d *doctor) unmasked(l *launch.Launcher) string {
	d.project.Problems() // another check reports problems of the rules
	rules, err := d.project.Rules()
	if err != nil {
		return ""
	}
	left := lists.Filter(masks(rules, l), func(m maskRecord) bool { return m.Left != "" })
	if len(left) == 0 {
		return ""
	}
	return "; rules deny these only by the words of commands: " +
		strings.Join(lists.Map(left, func(m maskRecord) string { return m.Program }), ", ")
}
