//go:build unix

package main

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
type client struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	stdout io.Closer
	out    *bufio.Reader
	errs   bytes.Buffer
	schema *schematest.Schema
	seq    int
}

// A record is one line of the program's.
type record = map[string]any

// talk starts a conversation, and reads its first record.
func talk(t *testing.T, dir string, s *et.Server, args ...string) *client {
	t.Helper()
	c := dial(t, dir, s, args...)
	c.want("init")
	return c
}

// dial starts a conversation and reads nothing.
func dial(t *testing.T, dir string, s *et.Server, args ...string) *client {
	t.Helper()
	t.Cleanup(s.Close)
	c := &client{t: t, dir: dir, schema: schematest.Open(t, "events")}
	c.cmd = headless(t, s, dir, nil, &c.errs, append([]string{"--input-format", "stream-json"}, args...)...)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	c.stdout, c.out = out, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(5*time.Minute, func() { c.cmd.Process.Kill() }) // and the test says what it waited for
	t.Cleanup(func() {
		hung.Stop()
		c.in.Close()
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	return c
}

// send writes a line: JSON as it is, or a value.
func (c *client) send(v any) {
	c.t.Helper()
	line, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			c.t.Fatal(err)
		}
		line = string(b)
	}
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) say(text string) { c.send(record{"type": "user", "content": text}) }

// next reads a record, nil at the end.
func (c *client) next() record {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		return nil
	}
	if err != nil {
		c.t.Fatalf("%v after %q", err, line)
	}
	var r record
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
func (c *client) want(kind string, fields ...any) record {
	c.t.Helper()
	var before []record
	for {
		r := c.next()
		if r == nil {
			c.cmd.Wait()
			c.t.Fatalf("no %s, but %v\n%s", kind, before, c.errs.Bytes())
		}
		if r["type"] == kind {
			check(c.t, r, fields...)
			return r
		}
		before = append(before, r)
	}
}

// check checks fields of a record.
func check(t *testing.T, r record, fields ...any) {
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
func (c *client) ends(code int, reason string) record {
	c.t.Helper()
	last := c.want("result", "exit_code", code, "termination_reason", reason)
	if r := c.next(); r != nil {
		c.t.Errorf("%v follows the result", r)
	}
	c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("exit code %d, want %d; %s", got, code, c.errs.Bytes())
	}
	return last
}

// finish ends the input, too.
func (c *client) finish(code int, reason string) record {
	c.t.Helper()
	c.in.Close()
	return c.ends(code, reason)
}
