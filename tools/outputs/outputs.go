// Package outputs shortens outputs of tools that are too long for the model, and stores the
// full output in a file that the model can read.
//
// # Without secrets
//
// A stored output holds no known secret. The caller redacts secrets before it cuts a text,
// as the redactor would not find a part of a secret.
package outputs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/google/uuid"

	"gemline/engine"
	"gemline/engine/model/oneshot"
	"gemline/engine/redact"
	"gemline/engine/text"
)

// Limits say which outputs are too long, and where the full outputs are stored. The zero
// Limits leave all outputs as they are.
type Limits struct {
	Dir       func() string // for the full outputs, created by the writer; nil stores none
	Secrets   *redact.Redactor
	Threshold int            // characters of a command's output that the model is given; 0 or less means all
	Distill   Distillation   // for the outputs of all tools; replaces Threshold
	Summaries map[string]int // tools whose outputs a smaller model sums up, and the tokens of the summary
	Asker     *oneshot.Asker // asks the smaller model
}

// Cut shortens a text of more than l.Threshold characters to its beginning and its end, and
// stores the full text in a file. It leaves all texts as they are if outputs are distilled.
func (l Limits) Cut(tool, all string) (string, engine.Cut) {
	if l.Distill.MaxTokens > 0 {
		return all, engine.Cut{}
	}
	return l.cut(tool, all, l.Threshold)
}

// cut cuts a text of more than most characters; if most is 0 or less, none.
func (l Limits) cut(tool, all string, most int) (string, engine.Cut) {
	n := utf8.RuneCountInString(all)
	if most <= 0 || n <= most {
		return all, engine.Cut{}
	}
	head := most / 5
	tail := most - head
	first, _ := text.First(all, head)
	last := text.Last(all, tail)
	where := "For full output see: "
	path, err := l.Store(tool, all)
	if err != nil {
		where = "The full output could not be kept: "
		path = err.Error()
	}
	return fmt.Sprintf("Output too large. Showing first %s and last %s characters. %s%s\n%s\n\n... [%s characters omitted] ...\n\n%s",
		text.Number(head), text.Number(tail), where, path, first, text.Number(n-head-tail), last), engine.Cut{Total: n, Shown: most}
}

// Store writes text, an output of tool, to a new file in the directory of full outputs.
func (l Limits) Store(tool, text string) (path string, err error) {
	text = l.Secrets.Text(text)
	if l.Dir == nil {
		return "", errors.New("there is no place for it")
	}
	dir := l.Dir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, tool+"_"+id.String()+".txt")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = cmp.Or(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return path, err
}
