package batch

import (
	"context"
	"io"
	"strings"
	"testing"

	"gemline/repl/report"
)

// falls reads what it has, and then panics.
type falls struct{ io.Reader }

func (f falls) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err == io.EOF {
		panic("oh no")
	}
	return n, err
}

// A panic comes to whoever called, who can write the last record, when what
// was at work is over and kept: the next run does the rest.
func TestFalls(t *testing.T) {
	for _, test := range []struct {
		name           string
		set            func(*Config)
		printed, asked int // of three items, and by the next run
	}{
		{"the reader", func(r *Config) { r.Source.Reader = falls{r.Source.Reader} }, 2, 1},
		{"the reader, at once", func(r *Config) { r.Source.Reader = falls{strings.NewReader("")} }, 0, 3},
		{"the schema of an item", func(r *Config) {
			r.Schema = func(it Item) (*report.OutputSchema, error) {
				if it.Index == 1 {
					panic("oh no")
				}
				return nil, nil
			}
		}, 1, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			r, out, _ := newBatch(prompts("one", "two", "three"))
			r.State.Dir = dir
			test.set(r)
			fallen := func() (v any) {
				defer func() { v = recover() }()
				t.Errorf("it returns %v", Run(t.Context(), *r))
				return nil
			}()
			if text, _ := fallen.(string); !strings.HasPrefix(text, "oh no\n") || !strings.Contains(text, "run_panic_test.go") {
				t.Errorf("the panic is %v", fallen)
			}
			if all := show(t, out); len(all) != test.printed {
				t.Errorf("printed are %+v", all)
			}
			asked := 0
			r, out, _ = newBatch(prompts("one", "two", "three"))
			r.State.Dir = dir
			r.Ask = func(ctx context.Context, turn Task) error { asked++; return echo(ctx, turn) }
			if err := Run(t.Context(), *r); err != nil || asked != test.asked || len(show(t, out)) != 3 {
				t.Errorf("%v, asked %d, %+v", err, asked, show(t, out))
			}
		})
	}
}
