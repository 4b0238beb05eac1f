package files

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/edit"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/replace.md
var replaceDoc string

const replaceSchema = `{"type":"object","properties":{
"file_path":{"type":"string"},
"instruction":{"type":"string","description":"What the change is for, in a sentence"},
"old_string":{"type":"string"},
"new_string":{"type":"string","description":"Exactly what shall stand there; nothing may be left out"},
"allow_multiple":{"type":"boolean","description":"Replace every occurrence"}},
"required":["file_path","instruction","old_string","new_string"]}`

type replaceArgs struct {
	Path        string `json:"file_path"`
	Instruction string `json:"instruction"`
	Old         string `json:"old_string"`
	New         string `json:"new_string"`
	All         bool   `json:"allow_multiple"`
	Modified    bool   `json:"modified_by_user"`
}

// replace returns the tool that replaces a part of a file.
func (ts Tools) replace() engine.Tool {
	return toolkit.Define("replace", "Edit", engine.Edit, replaceDoc, replaceSchema,
		func(ctx context.Context, a replaceArgs) (engine.Call, error) {
			if strings.Trim(a.Path, "\x00") == "" {
				return engine.Call{}, toolkit.Misuse("The 'file_path' parameter must be non-empty.")
			}
			r, err := Revise(ts.Workspace, a.Path, "edit_preparation_failure")
			if err != nil {
				return engine.Call{}, err
			}
			if !a.Modified && r.omits(a.Old, a.New) {
				return engine.Call{}, toolkit.Misuse("`new_string` contains an omission placeholder " +
					"(for example 'rest of methods ...'). Provide exact literal replacement text.")
			}
			if r.File == nil && a.Old != "" {
				if err := r.search(ctx, a.Path); err != nil {
					ts.Known.missed(r.ws, r.Path)
					return engine.Call{}, err
				}
			}
			found, err := r.replace(a)
			if err != nil && r.private() {
				return r.refusal(err), nil
			}
			if err != nil {
				return engine.Call{}, err
			}
			return engine.Call{
				Intent: r.intent(a.changed(r)),
				Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
					if err := r.Write(ctx); err != nil {
						return engine.Result{}, err
					}
					ts.Known.note(r.place.Path(), r.text, r.format())
					return r.result(a.resultText(r, found)), nil
				},
			}, nil
		})
}

// replace proposes the text that a requests.
func (r *Revision) replace(a replaceArgs) (edit.Result, error) {
	if r.File == nil {
		return edit.Result{}, r.Propose(fresh(a.New))
	}
	if a.Old == "" {
		return edit.Result{}, noEdit("attempt_to_create_existing_file",
			"File already exists, cannot create: "+r.Path, "the file exists already")
	}
	found, err := edit.Replace(r.File.Text, a.Old, a.New, a.All)
	switch {
	case err != nil:
		return found, &engine.CallError{Type: "file_too_large", Message: fmt.Sprintf("Cannot edit %s: %v", r.Path, err)}
	case found.Count == 0:
		return found, noEdit("edit_no_occurrence_found",
			fmt.Sprintf("Could not find an exact match for 'old_string' in '%s'. If previous edits modified the file, "+
				"your copy of it may be outdated: please use ReadFile to inspect the target lines before retrying with an exact 'old_string'.", a.Path),
			"the text to be replaced is not in the file")
	case found.Count > 1 && !a.All:
		return found, noEdit("edit_expected_occurrence_mismatch",
			fmt.Sprintf("Failed to edit, Expected 1 occurrence but found %d for old_string in file: %s. "+
				"If you intended to replace multiple occurrences, set 'allow_multiple' to true.", found.Count, a.Path),
			fmt.Sprintf("the text to be replaced is in the file %d times", found.Count))
	case a.Old == a.New:
		return found, noEdit("edit_no_change",
			"No changes to apply. The old_string and new_string are identical in file: "+a.Path, "the edit changes nothing")
	case found.Text == r.File.Text:
		return found, noEdit("edit_no_change",
			"No changes to apply. The edit leaves the file as it is (line endings and the final newline are kept): "+a.Path, "the edit changes nothing")
	}
	return found, r.Propose(found.Text)
}

// refusal returns a call that fails with err after its approval, as the error reveals
// contents of the file.
func (r *Revision) refusal(err error) engine.Call {
	in := r.intent(nil)
	if ce := (*engine.CallError)(nil); errors.As(err, &ce) {
		in.Detail = "it will fail: " + cmp.Or(ce.Display, ce.Message)
	}
	return engine.Call{Intent: in, Run: func(context.Context,
		engine.Host) (engine.Result, error) {
		return engine.Result{}, err
	}}
}

func noEdit(class, message, display string) error {
	return &engine.CallError{Type: class, Message: message, Display: display}
}

// search looks for a file with a relative name that is missing in the working directory, and
// reads the file if it is the only one.
func (r *Revision) search(ctx context.Context, name string) error {
	missing := func(hint string) error {
		return noEdit("file_not_found", "File not found: "+r.Path+hint,
			"no such file or directory")
	}
	rel := filepath.Clean(strings.TrimPrefix(strings.ReplaceAll(name, "\x00", ""), "@"))
	if !filepath.IsLocal(rel) || rel == "." {
		return missing("")
	}
	found, err := candidates(ctx, r.ws, rel)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return missing(hint(r.ws, r.Path))
	case len(found) > 1:
		return missing(". It may be one of: " + strings.Join(found, ", "))
	}
	if r.Path, err = r.ws.Resolve(found[0]); err != nil {
		return r.unreadable(err)
	}
	if err := r.read(); err != nil {
		return err
	}
	if r.File == nil {
		return missing("")
	}
	return nil
}

// candidates returns files below the roots whose path ends in rel, a few at
// most. In a very large tree it finds nothing.
func candidates(ctx context.Context, ws *workspace.Workspace, rel string) ([]string, error) {
	const few, large = 5, 200_000
	ending := string(filepath.Separator) + rel
	var found []string
	seen := 0
	for _, root := range ws.Roots() {
		for e, err := range ws.Walk(ctx, root, workspace.WalkOptions{}) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if seen++; seen > large {
				return nil, nil
			}
			if err != nil || !strings.HasSuffix(e.Path, ending) || slices.Contains(found, e.Path) {
				continue
			}
			if info, err := ws.Stat(e.Path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if found = append(found, e.Path); len(found) == few {
				slices.Sort(found)
				return found, nil
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// changed returns the arguments of the call when the user has edited what r
// proposes: the whole old text for the whole new one.
func (a replaceArgs) changed(r *Revision) func(text string) map[string]any {
	return func(text string) map[string]any {
		args := map[string]any{"file_path": r.Path, "instruction": a.Instruction}
		if text == r.draft() {
			args["old_string"], args["new_string"] = a.Old, a.New
			if a.All {
				args["allow_multiple"] = true
			}
			return args
		}
		args["old_string"], args["new_string"], args["modified_by_user"] = r.before(), text, true
		return args
	}
}

// resultText returns the result for the model after r is done.
func (a replaceArgs) resultText(r *Revision, found edit.Result) string {
	s := fmt.Sprintf("Created new file: %s with provided content.", r.Path)
	if r.File != nil {
		s = fmt.Sprintf("Successfully modified file: %s (%d replacements).", r.Path, found.Count)
	}
	s += r.snippet()
	if found.Strategy == edit.Fuzzy {
		var lines []string
		for _, l := range found.Lines {
			lines = append(lines, fmt.Sprintf("%d-%d", l.First, l.Last))
		}
		s += fmt.Sprintf(" Applied fuzzy match at line(s) %s.", strings.Join(lines, ", "))
	}
	if a.Modified {
		s += fmt.Sprintf(" The confirmation step modified the `new_string` content to be: %s.", a.New)
	}
	return s
}
