//go:build unix

package attack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemline/commands/program/acceptance/teletype"
	"gemline/repl/output"
)

// converse runs the program with somebody to ask, who says no to everything.
func (n *nest) converse() outcome {
	n.t.Helper()
	n.turns = turns(n.t, n.Call)
	cmd, late := n.command(append(n.flags(), "--input-format", "stream-json"))
	var all, errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.pid.Store(int64(cmd.Process.Pid))
	send := func(r record) { // a program that has ended says so elsewhere
		b, _ := json.Marshal(r)
		io.WriteString(in, string(b)+"\n")
	}
	send(record{"type": "user", "content": n.prompt()})
	var asked []record
	for lines := bufio.NewReader(out); ; {
		raw, err := lines.ReadString('\n')
		all.WriteString(raw)
		var r record
		json.Unmarshal([]byte(raw), &r)
		switch r["type"] {
		case "approval_request":
			asked = append(asked, r)
			send(record{"type": "approval", "id": r["id"], "decision": "deny"})
		case "question":
			send(record{"type": "answer", "id": r["id"], "answers": []any{}})
		case "turn_result":
			in.Close()
		}
		if err != nil {
			break
		}
	}
	cmd.Wait()
	return outcome{stdout: all.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode(), hung: late(), calls: callsIn(all.String()), asked: asked}
}

// wasAsked reports whether somebody was asked about c.
func (o outcome) wasAsked(c call) bool {
	return slices.ContainsFunc(o.asked, func(r record) bool { return r["tool_id"] == c.id })
}

// ready is what the program waits with for what comes next.
const ready = `(?m)^> $`

// sit runs the program at a terminal, with answers to its questions, and
// returns what that has shown.
func (n *nest) sit() string {
	n.t.Helper()
	n.turns = turns(n.t, n.Call)
	s := teletype.Start(n.t, teletype.Command{Path: program(n.t), Args: append(n.flags(), "--prompt-format", "stable"), Dir: n.at(n.Setup.Cwd), Env: n.environment()})
	if strings.HasSuffix(s.Match(`(?m)^(?:> |answer: )$`), "answer: ") { // what the project wants to run
		s.Line(n.Setup.Agree)
		if strings.HasSuffix(s.Match(`(?m)^(?:> |answer: )$`), "answer: ") { // it is not offered
			s.Line("1")
			s.Match(ready)
		}
	}
	s.Line(n.prompt())
	for _, a := range n.Setup.Answers {
		s.Match(`(?m)^answer: $`)
		s.Line(a)
	}
	for n.Setup.Agree != "" && strings.HasSuffix(s.Match(`(?m)^(?:> |answer: )$`), "answer: ") {
		s.Line("n") // to whatever is asked
	}
	if n.Setup.Agree == "" {
		s.Match(ready)
	}
	s.Line("/quit")
	if code := s.Exit(); code != 0 {
		n.t.Errorf("exit code %d at a terminal", code)
	}
	return strings.ReplaceAll(string(s.Transcript()), "\r\n", "\n")
}

// forged returns the lines of a transcript that look as if the program waited
// for somebody, when it did not: nobody typed anything but the prompt and the
// end.
func (n *nest) forged(transcript string) []string {
	own := []string{output.Ready + n.prompt() + "\n", output.Ready + "/quit\n"}
	var all []string
	for l := range strings.Lines(transcript) {
		for _, mark := range append([]string{output.Ready, output.Shell, "answer: ", string(output.Permission) + ":"}, output.Choices...) {
			if strings.HasPrefix(strings.ToLower(l), mark) && !slices.Contains(own, l) {
				all = append(all, fmt.Sprintf("%q", l))
			}
		}
	}
	return all
}
