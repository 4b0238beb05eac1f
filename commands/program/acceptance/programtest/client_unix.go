//go:build unix

package programtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	et "gemline/engine/enginetest"
	"gemline/repl/schematest"
)

// A client talks with the program in lines of JSON.
type Client struct {
	t      *testing.T
	dir    string
	Cmd    *exec.Cmd
	In     io.WriteCloser
	Stdout io.Closer
	Out    *bufio.Reader
	Errs   bytes.Buffer
	schema *schematest.Schema
	seq    int
}

// A record is one line of the program's.
type Record = map[string]any

// Talk starts a conversation, and reads its first record.
func Talk(t *testing.T, dir string, s *et.Server, args ...string) *Client {
	t.Helper()
	c := Dial(t, dir, s, args...)
	c.Want("init")
	return c
}

// Dial starts a conversation and reads nothing.
func Dial(t *testing.T, dir string, s *et.Server, args ...string) *Client {
	t.Helper()
	t.Cleanup(s.Close)
	c := &Client{t: t, dir: dir, schema: schematest.Open(t, "events")}
	c.Cmd = Headless(t, s, dir, nil, &c.Errs, append([]string{"--input-format", "stream-json"}, args...)...)
	out, err := c.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.In, err = c.Cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Out = out, bufio.NewReader(out)
	if err := c.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(5*time.Minute, func() { c.Cmd.Process.Kill() }) // and the test says what it waited for
	t.Cleanup(func() {
		hung.Stop()
		c.In.Close()
		c.Cmd.Process.Kill()
		c.Cmd.Wait()
	})
	return c
}

// send writes a line: JSON as it is, or a value.
func (c *Client) Send(v any) {
	c.t.Helper()
	line, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			c.t.Fatal(err)
		}
		line = string(b)
	}
	if _, err := io.WriteString(c.In, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Client) Say(text string) { c.Send(Record{"type": "user", "content": text}) }

// next reads a record, nil at the end.
func (c *Client) Next() Record {
	c.t.Helper()
	line, err := c.Out.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		return nil
	}
	if err != nil {
		c.t.Fatalf("%v after %q", err, line)
	}
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if err := c.schema.Check(string(line)); err != nil {
		c.t.Errorf("%s: %v", line, err)
	}
	if r["seq"] != float64(c.seq) {
		c.t.Errorf("record %d is %s", c.seq, line)
	}
	c.seq++
	return r
}

// want reads up to a record of a type, with fields given as paths and values
// in turn.
func (c *Client) Want(kind string, fields ...any) Record {
	c.t.Helper()
	var before []Record
	for {
		r := c.Next()
		if r == nil {
			c.Cmd.Wait()
			c.t.Fatalf("no %s, but %v\n%s", kind, before, c.Errs.Bytes())
		}
		if r["type"] == kind {
			Check(c.t, r, fields...)
			return r
		}
		before = append(before, r)
	}
}

// Check checks fields of a record.
func Check(t *testing.T, r Record, fields ...any) {
	t.Helper()
	for i := 0; i < len(fields); i += 2 {
		var v any = r
		for key := range strings.SplitSeq(fields[i].(string), "/") {
			switch x := v.(type) {
			case map[string]any:
				v = x[key]
			case []any:
				var at int
				fmt.Sscan(key, &at)
				v = nil
				if at < len(x) {
					v = x[at]
				}
			}
		}
		if fmt.Sprint(v) != fmt.Sprint(fields[i+1]) {
			t.Errorf("%s is %v, not %v: %v", fields[i], v, fields[i+1], r)
		}
	}
}

// ends reads the last record, after the input has ended, and checks the exit
// code.
func (c *Client) Ends(code int, reason string) Record {
	c.t.Helper()
	last := c.Want("result", "exit_code", code, "termination_reason", reason)
	if r := c.Next(); r != nil {
		c.t.Errorf("%v follows the result", r)
	}
	c.Cmd.Wait()
	if got := c.Cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("exit code %d, want %d; %s", got, code, c.Errs.Bytes())
	}
	return last
}

// finish ends the input, too.
func (c *Client) Finish(code int, reason string) Record {
	c.t.Helper()
	c.In.Close()
	return c.Ends(code, reason)
}
