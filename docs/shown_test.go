package docs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/settings"
	"gemline/settings/flags"
)

// A shown is a text that a page shows as it is typed or written: a line or a block of code, or
// a few words between backquotes.
type shown struct {
	page, text string
	block      bool // it stands alone
}

// examples returns what README and the pages show.
func examples(t *testing.T) (all []shown) {
	t.Helper()
	pages, _ := filepath.Glob("docs/*.md")
	inner, _ := filepath.Glob("docs/internals/*.md")
	for _, page := range slices.Concat([]string{"README.md"}, pages, inner) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fence, block := "", []string{}
		end := func() {
			if len(block) > 0 {
				all = append(all, shown{page, strings.Join(block, "\n"), true})
			}
			block = nil
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\n")
			marks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
			inside, indented := strings.CutPrefix(line, "    ")
			switch {
			case fence == "" && len(marks) > 2:
				end()
				fence = marks
			case fence != "" && line == fence:
				end()
				fence = ""
			case fence != "":
				block = append(block, line)
			case indented && (len(block) > 0 || !strings.HasPrefix(inside, " ")):
				block = append(block, inside)
			default:
				end()
				for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
					all = append(all, shown{page, strings.ReplaceAll(m[1], `\|`, "|"), false})
				}
			}
		}
		end()
	}
	return all
}

// started returns the arguments of each gemline that a command line of the shell starts.
func started(line string) (calls [][]string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, is := n.(*syntax.CallExpr)
		if !is || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, literal(w))
		}
		at := slices.Index(words, "gemline")
		if at == 0 || at > 0 && slices.Contains([]string{"exec", "parallel", "xargs"}, words[0]) {
			words = words[at+1:]
			if end := slices.Index(words, ":::"); end >= 0 { // what parallel fills in
				words = words[:end]
			}
			calls = append(calls, words)
		}
		return true
	})
	return calls
}

// literal returns a word of the shell without its quotes. What the shell would fill in is x.
func literal(w *syntax.Word) string {
	var b strings.Builder
	var visit func(parts []syntax.WordPart)
	visit = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, `\"`, `"`))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				visit(p.Parts)
			default:
				b.WriteString("x")
			}
		}
	}
	visit(w.Parts)
	return b.String()
}

// accepted returns what is wrong with the arguments of gemline. Nothing is started: without
// what it takes, no sub-command runs.
func accepted(args []string) error {
	before, from, ok := flags.Subcommand(args, cli.Names())
	if !ok || !cli.Means(from) {
		_, err := flags.Parse(args)
		return cmp.Or(cli.Missing(args), err)
	}
	_, own, err := cli.ParseServing(from)
	if err != nil {
		return err
	}
	if _, err := flags.Parse(slices.Concat(before, own)); err != nil {
		return err
	}
	from = slices.DeleteFunc(slices.Clone(from), func(w string) bool { return slices.Contains(own, w) })
	err = cli.Run(context.Background(), &cli.Output{Out: io.Discard}, &cli.Asker{}, from)
	if wrong := (*flags.UsageError)(nil); errors.As(err, &wrong) && !strings.Contains(err.Error(), "is started by other programs") {
		return err
	}
	return nil
}

// filled are examples of what stands for others in a synopsis.
var filled = strings.NewReplacer("WHERE", "user", "WHOSE", "user", "SECONDS", "5",
	"help COMMAND", "help config", "help TOPIC", "help usage", "schema NAME", "schema events")

// alternatives returns what a synopsis such as "enable|disable NAME [--scope WHERE]" stands for.
func alternatives(synopsis string) []string {
	all := []string{""}
	plain := strings.NewReplacer("[", "", "]", "", "...", "").Replace(synopsis)
	for word := range strings.FieldsSeq(filled.Replace(plain)) {
		var more []string
		for _, s := range all {
			for part := range strings.SplitSeq(word, "|") {
				more = append(more, strings.TrimSpace(s+" "+part))
			}
		}
		all = more
	}
	return all
}

// Each command line that a page shows is one that gemline takes.
func TestShownCommands(t *testing.T) {
	other := []string{"gemma"} // what the page says is that there is no such command
	n := 0
	for _, e := range examples(t) {
		lines := []string{e.text}
		switch script := strings.TrimPrefix(strings.ReplaceAll(e.text, "\n$ ", "\n"), "$ "); {
		case e.block && len(started(script)) > 0:
			lines = []string{script}
		case e.block: // no script, but perhaps with what is printed
			lines = strings.Split(e.text, "\n")
		case !strings.HasPrefix(e.text, "gemline "):
			continue
		case !strings.Contains(e.text, " |"): // else it is a pipeline
			lines = alternatives(e.text)
		}
		for _, line := range lines {
			for _, args := range started(strings.TrimPrefix(line, "$ ")) {
				n++
				err := accepted(args)
				if err != nil && !e.block && strings.Contains(err.Error(), " needs ") {
					continue // the name of a command, in a sentence
				}
				if err != nil && !slices.Contains(other, args[0]) {
					t.Errorf("%s: gemline %q: %v", e.page, args, err)
				}
			}
		}
	}
	if t.Logf("%d command lines", n); n < 180 {
		t.Error("most are not found")
	}
}

// Each slash command that a page shows is there, and takes what stands behind it.
func TestShownSlashCommands(t *testing.T) {
	var words []string
	set := commands.Builtin(&commands.Deps{Conversation: &commands.Conversation{}, Out: io.Discard,
		Manage: func(_ context.Context, args ...string) error { words = args; return nil }})
	passed := strings.Fields("agents auth extensions hooks mcp permissions policies settings setup-github skills trash")
	own := []string{"reload", "trust"} // of /extensions and /permissions, which ask no sub-command
	n := 0
	for _, e := range examples(t) {
		if e.block || !regexp.MustCompile(`^/[a-z][a-z-]*(\[| |$)`).MatchString(e.text) || slices.Contains(notSlash, e.text) {
			continue
		}
		for _, line := range alternatives(e.text[1:]) {
			n++
			c, rest := set.Find(line)
			switch {
			case c == nil:
				t.Errorf("%s: there is no /%s", e.page, line)
			case rest != "" && c.Args == "" && !c.Words && c.Prompt == nil:
				t.Errorf("%s: /%s: %s takes no words", e.page, line, c.Name)
			case slices.Contains(passed, strings.Fields(line)[0]) && rest != "" && !slices.Contains(own, c.Name):
				words = nil
				if err := c.Run(t.Context(), rest); err != nil {
					t.Errorf("%s: /%s: %v", e.page, line, err)
				} else if words != nil && accepted(words) != nil {
					t.Errorf("%s: /%s: %v", e.page, line, accepted(words))
				}
			}
		}
	}
	if t.Logf("%d slash commands", n); n < 200 {
		t.Error("most are not found")
	}
}

// notSlash are directories, and a command of the page's own.
var notSlash = []string{"/dev", "/from[:/to[:rw]]", "/proc", "/release-notes for 2.0", "/sys", "/tmp"}

// Each settings file that a page shows has nothing wrong, and each key is one.
func TestShownSettings(t *testing.T) {
	sections := map[string]bool{}
	for _, k := range settings.Keys() {
		head, _, _ := strings.Cut(k.Name, ".")
		sections[head] = true
	}
	file := filepath.Join(t.TempDir(), "settings.json")
	none := func(string) (string, bool) { return "", false }
	keyed := regexp.MustCompile(`^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+$`)
	files, keys := 0, 0
	for _, e := range examples(t) {
		var tree map[string]any
		known := func(name string) bool { return sections[name] }
		if json.Unmarshal([]byte(e.text), &tree) == nil && slices.ContainsFunc(slices.Collect(maps.Keys(tree)), known) &&
			tree["prompt"] == nil { // else it is a prompt of a batch
			files++
			if err := os.WriteFile(file, []byte(e.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, _, err := settings.Load([]settings.Source{{Scope: settings.User, Path: file}}, none)
			if problems := s.Layers()[0].Problems; err != nil || len(problems) > 0 {
				t.Errorf("%s: %s: %v %v", e.page, e.text, err, problems)
			}
		}
		head, _, _ := strings.Cut(e.text, ".")
		if keyed.MatchString(e.text) && sections[head] {
			keys++
			_, known := settings.FindKey(e.text)
			if _, older := settings.CurrentName(e.text); !known && !older {
				t.Errorf("%s: there is no setting %s", e.page, e.text)
			}
		}
	}
	if t.Logf("%d files, %d keys", files, keys); files < 10 || keys < 100 {
		t.Error("most are not found")
	}
}
