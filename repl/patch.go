package repl

import (
	"strings"

	"gemline/repl/output"
	"gemline/repl/question"
)

// ShowPatch shows a patch in git's format in the way of a question about a change: without the
// names of the texts, and in words for users who listen, file by file.
func (c *Console) ShowPatch(patch string) {
	const head = "diff --git "
	for i, file := range strings.Split("\n"+strings.TrimSuffix(patch, "\n"), "\n"+head) {
		if i == 0 && file == "" {
			continue
		}
		if change, ok := question.ParseChange(fromHunks(file)); ok && c.Spoken {
			about := titleText(c.Out, nameOf(file)) + ": " + change.Count()
			if in := change.Function(); in != "" {
				about += ", in " + titleText(c.Out, in)
			}
			c.Out.Styled(output.Strong, about)
			for _, l := range spoken(change) {
				c.Out.Styled(output.Normal, detailText(c.Out, l))
			}
			continue
		}
		var d diff
		for l := range strings.SplitSeq(output.Sanitize(head+file), "\n") {
			if style := d.style(l); style != output.Normal || !strings.HasPrefix(l, "index ") {
				c.Out.Styled(style, detailText(c.Out, l))
			}
		}
	}
}

// fromHunks returns a file's part of a patch, from the names of its texts on.
func fromHunks(file string) string {
	if i := strings.Index(file, "\n--- "); i >= 0 {
		return file[i+1:]
	}
	return ""
}

// nameOf returns the file name of a part of a patch, and whether the file is new or deleted.
func nameOf(file string) string {
	before, after := "", ""
	for l := range strings.Lines(file) {
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "--- "); ok && before == "" {
			before = name
		} else if name, ok := strings.CutPrefix(l, "+++ "); ok && after == "" {
			after = name
		}
	}
	plain := func(name string) string {
		name = strings.TrimSuffix(strings.TrimPrefix(name, `"`), `"`)
		return name[min(len("a/"), len(name)):]
	}
	switch none := "/dev/null"; {
	case before == none:
		return "new file " + plain(after)
	case after == none:
		return "deleted " + plain(before)
	}
	return plain(after)
}
