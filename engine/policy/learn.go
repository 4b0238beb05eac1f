package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Store has the files for rules from answers "always". Without a file, rules of its scope are
// not stored.
type Store struct {
	Project string            // the file of rules for this project
	User    string            // the file of rules for everywhere
	About   string            // the text of the comment above each rule
	Failed  func(text string) // gets a message about each failed write
	Saved   func(text string) // gets a line about each stored rule, with its place
}

// file returns the file for a scope.
func (s Store) file(scope engine.Scope) string {
	switch scope {
	case engine.InProject:
		return s.Project
	case engine.Everywhere:
		return s.User
	}
	return ""
}

// OfferRules returns an approver around a that offers rules to store: for the current call and
// for similar calls. If never is true it offers none.
func (p *Policy) OfferRules(a engine.Approver, never bool) engine.Approver {
	return ruleOfferer{a, p, never}
}

type ruleOfferer struct {
	engine.Approver
	policy *Policy
	never  bool
}

// Approve implements [engine.Approver].
func (a ruleOfferer) Approve(ctx context.Context, q engine.Proposal) (engine.Answer, error) {
	switch {
	case q.Tool.Kind == engine.Planning: // its grants choose how to continue after the call, and are not stored
	case a.never:
		q.Intent.Grants = nil
	case len(q.Intent.Grants) > 0:
		q.Intent.Grants = a.policy.offeredGrants(q)
		for i := range q.Intent.Grants {
			q.Intent.Grants[i].SessionOnly = a.policy.Store.Project == "" && a.policy.Store.User == ""
		}
	}
	return a.Approver.Approve(ctx, q)
}

// offeredGrants returns the grants of a call, the narrowest first, with the rules to store for
// them.
func (p *Policy) offeredGrants(q engine.Proposal) []engine.Grant {
	grants := slices.Clone(q.Intent.Grants)
	if !runs(q) {
		name, tools := grants[0].Names, []string{q.Tool.Name()}
		if q.Tool.Kind == engine.Edit {
			name, tools = "file_path", []string{"replace", "write_file"}
		}
		if path, ok := q.Args[name].(string); ok && name != "" && !strings.ContainsRune(path, 0) {
			u := p.WithUnattended(p.Unattended).ask(q) // a copy, since the mode may change
			if exact, _ := u.spellings(path); len(exact) > 0 && !slices.Contains(exact, path) {
				path = exact[0] // a rule about the path itself would not fit
			}
			pattern := `\x00"` + name + `":` + regexp.QuoteMeta(jsonText(path)) + `\x00`
			grants[0].Rule, grants[0].ProjectOnly = ruleText(tools, "argsPattern = "+tomlString(pattern)), true
		} else if q.Tool.Kind != engine.Edit {
			grants[0].Rule = grantRule(grants[0])
		}
		return grants
	}
	rights := q.Intent.Plan.Rights
	if q.Intent.Plan.Class != engine.Plain || len(q.Intent.Plan.Commands) == 0 || rights.HasPaths() {
		return grants
	}
	label, network := "", ""
	if rights.Network {
		label, network = ", with the network", "\nnetwork = true"
	}
	var prefixes []string
	wide, near := true, false
	for _, c := range q.Intent.Plan.Commands {
		if len(c.Argv) == 0 || len(c.Env) > 0 {
			return grants
		}
		name := c.Argv[0].Text
		near = near || strings.Contains(name, "/") && !strings.HasPrefix(name, "/") // in another directory it is another program
		words := commandPrefix(c)
		if wide = wide && words != nil; wide {
			prefixes = append(prefixes, quotedWords(words))
		}
	}
	slices.Sort(prefixes)
	prefixes = slices.Compact(prefixes)
	if line, _ := q.Args["command"].(string); line != "" && q.Intent.Plan.Dir != "" {
		grants[0].ProjectOnly = true
		grants[0].Rule = ruleText([]string{Shell},
			"commandLine = "+tomlString(line)+"\ndirectory = "+tomlString(q.Intent.Plan.Dir)+network)
	}
	if wide {
		var list, begins []string
		for _, p := range prefixes {
			list = append(list, strconv.Quote(p))
			begins = append(begins, strconv.Quote(p+" ..."))
		}
		grants = append(grants, engine.Grant{Tool: Shell, ProjectOnly: near,
			Label: "always " + strings.Join(begins, " or ") + label,
			Rule:  ruleText([]string{Shell}, "commandPrefix = ["+strings.Join(list, ", ")+"]"+network)})
	}
	return grants
}

// grantRule returns the rule to store for a grant: about the target of the call, or about all
// calls of the tool.
func grantRule(g engine.Grant) string {
	if g.Target == "" {
		return ruleText([]string{g.Tool}, "")
	}
	return ruleText([]string{g.Tool}, "target = "+tomlString(g.Target))
}

// subcommand matches the sub-command of a program.
var subcommand = text.Pattern(`^[a-z][a-z-]*$`)

// runSubcommands are sub-commands with which a program runs another program.
var runSubcommands = []string{"exec", "x", "e", "dlx", "config", "tool", "tools", "shell", "init",
	"create", "env", "script", "explore", "start", "develop", "which"}

// commandPrefix returns the prefix of a rule for commands like c: the program and its
// sub-command, if there is one. It returns nil if such a rule would cover too much.
func commandPrefix(c engine.Command) []string {
	words := c.Words()
	second := len(words) > 1 && subcommand().MatchString(words[1]) && !slices.Contains(runSubcommands, words[1])
	switch {
	case c.Wrapper != "" || len(words) != len(c.Argv) || strings.ContainsAny(words[0], "*?[]"):
		return nil
	case c.Facts.Subcommands, c.Facts.Runner && words[min(1, len(words)-1)] != "run":
		if !second {
			return nil
		}
		return words[:2]
	case c.Facts.Broad, c.Facts.Runner:
		return nil
	}
	return words[:1]
}

// ruleText returns the text of a rule for a file.
func ruleText(tools []string, condition string) string {
	name := strconv.Quote(tools[0])
	if len(tools) > 1 {
		var list []string
		for _, t := range tools {
			list = append(list, strconv.Quote(t))
		}
		name = "[" + strings.Join(list, ", ") + "]"
	}
	if condition != "" {
		condition += "\n"
	}
	return fmt.Sprintf("[[rule]]\ntoolName = %s\n%sdecision = \"allow\"\npriority = %d\n", name, condition, saved)
}

// tomlString writes text as a string of TOML.
func tomlString(text string) string {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !strings.Contains(text, "'") && !strings.ContainsFunc(text, control) {
		return "'" + text + "'"
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\' || r == '"':
			b.WriteString(`\` + string(r))
		case control(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// Learn implements [engine.Policy]. A grant that names no tool covers nothing.
// A rule that can't be stored holds for the session.
func (p *Policy) Learn(g engine.Grant, s engine.Scope) error {
	if s == engine.Once || g.Tool == "" {
		return nil
	}
	where := Origin{File: thisSession}
	file := p.Store.file(s)
	if g.ProjectOnly && s == engine.Everywhere {
		file = p.Store.Project
	}
	if file != "" && g.Rule != "" {
		if line, err := Append(file, p.Store.About, g.Rule); err != nil {
			tell(p.Store.Failed, fmt.Sprintf("the rule was not saved, and holds for this session: %v", err))
		} else {
			where = Origin{File: file, Line: line}
			tell(p.Store.Saved, "kept in "+file+"; gemline policy revoke takes it back:\n"+strings.TrimSuffix(g.Rule, "\n"))
		}
	}
	var rules []Rule
	if g.Rule != "" && (g.Target == "" || where.Line > 0) {
		var err error
		if rules, _, err = Parse(where.File, User, []byte(g.Rule)); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if where.Line == 0 {
		p.answers++
		where.Line = p.answers
	}
	forget(p, func(o Origin) bool { return o == where })
	if g.Target != "" || g.Rule == "" {
		p.granted[key(g)] = where
	}
	for i := range rules {
		rules[i].Origin = where
	}
	p.rules = append(p.rules, rules...)
	return nil
}

// forget removes learned rules from p, chosen by their places. The caller must hold the lock of
// p.
func forget(p *Policy, learned func(Origin) bool) {
	maps.DeleteFunc(p.granted, func(_ engine.Grant, o Origin) bool { return learned(o) })
	p.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r Rule) bool { return learned(r.Origin) })
}

// thisSession replaces the file in the Origin of rules that are not stored.
const thisSession = "this session"

// ForgetGrants removes the grants of the session at its end. Stored rules and the mode stay.
func (p *Policy) ForgetGrants() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.granted)
	forget(p, func(o Origin) bool { return o.File == thisSession })
}

func tell(told func(string), text string) {
	if told != nil {
		told(text)
	}
}

// Append appends a rule to a file, which need not exist, and returns its line. It does not append
// a rule that the file already has.
func Append(file, about, rule string) (line int, err error) {
	err = rewrite(file, func(old []byte) ([]byte, error) {
		b := slices.Clone(old)
		if !bytes.Contains(old, []byte(rule)) {
			if len(b) > 0 {
				b = append(bytes.TrimRight(b, "\n"), "\n\n"...)
			}
			if about != "" {
				b = append(b, "# "+oneLine(about)+"\n"...)
			}
			b = append(b, rule...)
		}
		line = bytes.Count(b[:bytes.Index(b, []byte(rule))], []byte("\n")) + 1
		return b, nil
	})
	return line, err
}

// Revoke removes the rule at a place, and returns its text in the file, with the comment above
// it.
func (p *Policy) Revoke(at Origin) (was string, err error) {
	if at.File != thisSession {
		if was, err = remove(at.File, at.Line); err != nil {
			return "", err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	forget(p, func(o Origin) bool { return o == at })
	moved := func(o *Origin) {
		if o.File == at.File && o.Line > at.Line {
			o.Line -= strings.Count(was, "\n")
		}
	}
	for i := range p.rules {
		moved(&p.rules[i].Origin)
	}
	for g, o := range p.granted {
		moved(&o)
		p.granted[g] = o
	}
	return strings.TrimSpace(was), nil
}

// remove removes the rule that begins at a line from a file, with the comment above it, and
// returns its text.
func remove(file string, line int) (was string, err error) {
	err = rewrite(file, func(old []byte) ([]byte, error) {
		heads := slices.Clone(locate(string(old)).tables["rule"])
		i := slices.IndexFunc(heads, func(p place) bool { return p.line == line })
		if i < 0 {
			return nil, fmt.Errorf("no rule begins at line %d of %s", line, file)
		}
		lines := strings.SplitAfter(string(old), "\n")
		above := func(n int) int { // the index of the first line of the comment above
			for n--; n > 0 && strings.HasPrefix(strings.TrimSpace(lines[n-1]), "#"); n-- {
			}
			return n
		}
		from, to := above(line), len(lines)
		if i+1 < len(heads) {
			to = above(heads[i+1].line)
		}
		was = strings.Join(lines[from:to], "")
		return []byte(strings.Join(lines[:from], "") + strings.Join(lines[to:], "")), nil
	})
	return was, err
}

// lockWait is how long another program may hold a file of rules.
const lockWait = 5 * time.Second

// rewrite replaces a file of rules, under a lock. It does not change a file that can't be parsed,
// and writes no such file.
func rewrite(file string, edit func(old []byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return disk.Change(ctx, file, 0o600, func() ([]byte, error) {
		old, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if _, _, err := Parse(file, User, old); err != nil {
			return nil, err
		}
		b, err := edit(old)
		if err != nil || bytes.Equal(b, old) {
			return nil, err
		}
		_, _, err = Parse(file, User, b)
		return b, err
	})
}
