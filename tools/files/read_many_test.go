package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// told writes parts and what was skipped in short.
func (p place) told(names ...string) string {
	p.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, p.Path(name))
	}
	parts, skipped, err := p.ts.ReadMany(context.Background(), paths, nil)
	if err != nil {
		p.Fatal(err)
	}
	var s strings.Builder
	for _, part := range parts {
		if part.InlineData != nil {
			fmt.Fprintf(&s, "<%s>", part.InlineData.MIMEType)
		}
		s.WriteString(part.Text)
	}
	for _, sk := range skipped {
		fmt.Fprintf(&s, "\n%s: %s", p.Short(sk.Path), sk.Reason)
	}
	return s.String()
}

func TestReadMany(t *testing.T) {
	p := newPlace(t, map[string]string{
		"my file.txt": "\n alpha \n", "src/b.txt": "beta", "src/A.txt": "a", "src/.dot": "d", "src/sub/c.txt": "c", "src/pic.png": png, "src/x.pyc": "x", "src/GEMINI.md": "memory",
		"src/.env": "KEY", "src/build/out": "x", "src/node_modules/m": "x", "src/.git/c": "x", "src/gen.o": "obj", "src/out/deep/x": "x", "src/data": "\x00\x01",
		".gitignore": "*.o\nout/\n", "GEMINI.md": "named", "big.txt": numbered(2100), "wide.txt": strings.Repeat("y", 2100), "../out/s": "CANARY",
	})
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"my file.txt", "src"}, "\nContent from @my file.txt:\nalpha" +
			"\nContent from @src/.dot:\nd\nContent from @src/A.txt:\na\nContent from @src/b.txt:\nbeta" +
			"\nContent from @src/data:\nCannot display content of binary file: src/data\nContent from @src/sub/c.txt:\nc" +
			"\n$/src/.env: it may hold secrets; name it to have it read\n$/src/gen.o: ignored\n$/src/out: ignored\n$/src/pic.png: an image or the like that was not named"},
		{[]string{"src/pic.png", "GEMINI.md", "src/pic.png"}, "<image/png>\nContent from @GEMINI.md:\nnamed"},
		{[]string{"none", "src/gen.o", "src/.git/c", "src/.env", "../out/s"}, "\nContent from @src/.env:\nKEY\n$/none: not found\n$/src/gen.o: ignored\n$/src/.git/c: outside the workspace\n" + p.Short(p.Path("../out/s")) + ": outside the workspace"},
		{[]string{"big.txt"}, "\nContent from @big.txt:\n[WARNING: This file was cut: it has 2101 lines, and only the first 2000 are here. Use the 'read_file' tool to read more.]\n" + strings.TrimSpace(numbered(2000))},
		{[]string{"wide.txt"}, "\nContent from @wide.txt:\n[WARNING: Lines longer than 2000 characters were cut.]\n" + strings.Repeat("y", 2000) + "... [truncated]"},
		{nil, ""},
	} {
		if got := p.told(test.names...); got != test.want {
			t.Errorf("%v:\ngot:  %s\nwant: %s", test.names, got, test.want)
		}
	}
	if err := os.Truncate(p.Path("big.txt"), 21<<20); err != nil {
		t.Fatal(err)
	}
	if got, want := p.told("big.txt"), "\n$/big.txt: larger than 20 MB"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestReadManyEnds(t *testing.T) {
	p := newPlace(t, map[string]string{"src/a": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"src", "src/a"} {
		if _, _, err := p.ts.ReadMany(ctx, []string{p.Path(name)}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Each directory's context is told once, whatever of it is read.
func TestReadManyDiscovers(t *testing.T) {
	p := newPlace(t, map[string]string{"src/a": "a", "src/b": "b", "src/sub/c": "c", "src/pic.png": png, "other/d": "d"})
	f := &finder{said: map[string]bool{"other": true}}
	parts, skipped, err := p.ts.ReadMany(t.Context(), []string{p.Path("src"), p.Path("src/a"), p.Path("other/d"), p.Path("none")}, f.find)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.asked, " "); got != "src c d" {
		t.Errorf("asked about %s", got)
	}
	want := "\n--- Newly Discovered Project Context ---\nrules of ws\n\nrules of sub\n--- End Project Context ---"
	if got := parts[len(parts)-1].Text; got != want {
		t.Errorf("got %q", got)
	}
	if len(skipped) != 4 || skipped[0] != (SkippedFile{Reason: "a warning about ws"}) {
		t.Errorf("skipped: %v", skipped)
	}
}
