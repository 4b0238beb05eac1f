package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// A histories expands templates to commands such as stand in shell histories.
type histories struct {
	random *rand.Rand
	lists  map[string][]string
}

// expand returns one of the commands that a template stands for.
func (h histories) expand(template string) string {
	for {
		at := slot.FindStringIndex(template)
		if at == nil {
			break
		}
		list := h.lists[template[at[0]+1:at[1]-1]]
		template = template[:at[0]] + list[h.random.IntN(len(list))] + template[at[1]:]
	}
	var b strings.Builder
	for len(template) > 0 {
		parts, rest := alternatives(template)
		if len(parts) < 2 {
			b.WriteByte(template[0])
			template = template[1:]
			continue
		}
		b.WriteString(h.expand(parts[h.random.IntN(len(parts))]))
		template = rest
	}
	return b.String()
}

var slot = regexp.MustCompile(`<[a-z]+>`)

// alternatives returns what a text in braces that s begins with offers, and what
// is behind it.
func alternatives(s string) (parts []string, rest string) {
	if s[0] != '{' {
		return nil, ""
	}
	depth, from := 0, 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '|':
			if depth == 1 {
				parts, from = append(parts, s[from:i]), i+1
			}
		case '}':
			if depth--; depth == 0 {
				return append(parts, s[from:i]), s[i+1:]
			}
		}
	}
	return nil, ""
}

// histories returns commands by their kinds, in the order of the file.
func historyCommands(t *testing.T, count int) (kinds []string, commands map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus/histories.txt")
	if err != nil {
		t.Fatal(err)
	}
	h := histories{rand.New(rand.NewPCG(1, 2)), map[string][]string{}}
	shares, templates, all := map[string]int{}, map[string][]string{}, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		name, list, is := strings.Cut(line, " = ")
		switch {
		case strings.HasPrefix(line, "## "):
			share, kind, _ := strings.Cut(line[3:], " ")
			n, err := strconv.Atoi(share)
			if err != nil {
				t.Fatal(err)
			}
			kinds, shares[kind], all = append(kinds, kind), n, all+n
		case line == "" || line[0] == '#':
		case is && len(kinds) == 0:
			h.lists[name] = strings.Split(list, " | ")
		default:
			kind := kinds[len(kinds)-1]
			templates[kind] = append(templates[kind], line)
		}
	}
	commands = map[string][]string{}
	for _, kind := range kinds {
		for range count * shares[kind] / all {
			command := h.expand(templates[kind][h.random.IntN(len(templates[kind]))])
			command = strings.Join(strings.Fields(strings.ReplaceAll(command, "¦", "|")), " ")
			commands[kind] = append(commands[kind], strings.TrimSuffix(command, " |"))
		}
	}
	return kinds, commands
}

// Of commands in the shapes of shell histories, as many run unasked as the page
// about security says.
func TestHistories(t *testing.T) {
	b := confined(t)
	for _, name := range []string{".env", "README.md", "src/main.py", "src/index.ts", "go.mod", "package.json", "Makefile", "tests/test_api.py", "docs/guide.md", "internal/server/server.go"} {
		path := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool, p := runShellCommand(b.env), policy.New(policy.Default)
	p.Confined = func() bool { return true }
	kinds, commands := historyCommands(t, 7000)
	all, asked, looking, asks := 0, 0, 0, 0
	var list []string
	for _, kind := range kinds {
		some := 0
		for _, command := range commands[kind] {
			q := engine.Proposal{Tool: tool, Args: map[string]any{"command": command}}
			q.Intent = b.prepare(tool, q.Args).Intent
			e := p.Explain(q)
			verdict := "asks"
			if e.Verdict == engine.Allow || strings.Contains(e.Why, "is not installed") {
				verdict = "runs"
			} else {
				some++
			}
			list = append(list, fmt.Sprintf("%s\t%s\t%s", verdict, command, e.Why))
		}
		t.Logf("%s: %d of %d ask", kind, some, len(commands[kind]))
		all, asked = all+len(commands[kind]), asked+some
		if strings.Contains(kind, "look") || kind == "searching" {
			looking, asks = looking+len(commands[kind]), asks+some
		}
	}
	t.Logf("%d of %d ask, %.1f %%; of those that look %d of %d", asked, all, 100*float64(asked)/float64(all), asks, looking)
	if path := os.Getenv("HISTORIES"); path != "" {
		slices.Sort(list)
		if err := os.WriteFile(path, []byte(strings.Join(slices.Compact(list), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all < 2000 || asked*100 > all*48 {
		t.Errorf("%d of %d ask", asked, all)
	}
}
