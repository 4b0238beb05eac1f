package terminal

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	"gemline/engine"
	et "gemline/engine/enginetest"
)

// questions is a call that asks the user, with calls around it.
func questions() et.Reply {
	return et.Says("I have to know more.",
		et.Call("1", "read_file", "file_path", "notes.txt"),
		et.Call("2", "ask_user", "questions", []any{
			map[string]any{"question": "Which database?\npermission: run: ls\x1b[2J", "header": "Database", "type": "choice", "options": []any{
				map[string]any{"label": "PostgreSQL", "description": "for many users"},
				map[string]any{"label": "SQLite", "description": "one file"}}},
			map[string]any{"question": "Which checks?", "header": "Checks", "type": "choice", "multiSelect": true, "options": []any{
				map[string]any{"label": "Unit tests", "description": ""},
				map[string]any{"label": "Lint", "description": ""},
				map[string]any{"label": "Race detector", "description": ""}}},
			map[string]any{"question": "What is it called?", "header": "Name", "type": "text", "placeholder": "my-app"},
			map[string]any{"question": "Shall I begin?", "header": "Start", "type": "yesno"},
		}),
		et.Call("3", "list_directory", "dir_path", "."))
}

const (
	toChoose  = "answer 1 to 3, ? explain, Enter for none: "
	toSelect  = "answer 1 to 4, several as 1,2, ? explain, Enter for none: "
	toSay     = "answer in words, ? explain, Enter for none: "
	toConfirm = "answer y or n, ? explain, Enter for none: "
)

func TestAskUser(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(questions(), et.Says("I begin."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("make a service")
			s.Expect("read notes.txt")
			s.Expect("question 1 of 4, Database: Which database?\r\n| permission: run: ls\\x1b[2J\r\n")
			s.Expect("3 choices\r\n  1 PostgreSQL: for many users\r\n  2 SQLite: one file\r\n  3 other, in your own words\r\n")
			s.Expect(toChoose)
			s.Line("?")
			s.Expect("Ctrl-D leaves all of them open")
			s.Expect(toChoose)
			s.Line("mariadb")
			s.Expect("is none of the choices")
			s.Expect(toChoose)
			s.Line("sql")
			s.Expect("question 2 of 4, Checks: Which checks?")
			s.Expect("4 choices, of which several may be chosen")
			s.Expect(toSelect)
			s.Line("3 1")
			s.Expect("question 3 of 4, Name: What is it called?\r\n  such as: my-app\r\n")
			s.Expect(toSay)
			s.Line(`"näme" \`)
			s.Expect("... ")
			s.Line("or so")
			s.Expect("question 4 of 4, Start: Shall I begin?")
			s.Expect(toConfirm)
			s.Line("yes")
			s.Expect("  Database: SQLite\r\n  Checks: Unit tests, Race detector\r\n  Name: \"näme\" \r\n  or so\r\n  Start: Yes\r\n")
			s.Expect("I begin.")
			s.Expect("> ")
			s.Send("\x04")
			pt.Succeeds(t, s)
			pt.Lint(t, s.Transcript(), teletype.Rules{Smart: term != "dumb", Quiet: true})
			want := `{"output":"{\"answers\":{\"0\":\"SQLite\",\"1\":\"Unit tests, Race detector\",\"2\":\"\\\"näme\\\" \\nor so\",\"3\":\"Yes\"}}"}`
			if got := pt.AnswerOf(t, server, "ask_user"); got != want {
				t.Errorf("the model reads %s", got)
			}
		})
	}
}

// However a user does not answer, the session and the conversation go on.
func TestUnansweredQuestions(t *testing.T) {
	t.Parallel()
	const dismissed = `{"output":"User dismissed ask_user dialog without answering."}`
	for _, test := range []struct {
		name   string
		answer func(s *teletype.Session)
		goesOn bool // the model is told at once
		want   string
	}{
		{"Enter", func(s *teletype.Session) {
			for _, question := range []string{toSelect, toSay, toConfirm} {
				s.Line("")
				s.Expect(question)
			}
			s.Line("")
		}, true, dismissed},
		{"Ctrl-D", func(s *teletype.Session) { s.Send("\x04"); s.Expect("the input has ended, which means no answer") }, true, dismissed},
		{"Ctrl-D behind an answer", func(s *teletype.Session) {
			s.Line("1")
			s.Expect(toSelect)
			s.Send("\x04")
			s.Expect("the input has ended, which means no answer")
		}, true, dismissed},
		{"nonsense", func(s *teletype.Session) {
			for range 2 {
				s.Line("nonsense")
				s.Expect(toChoose)
			}
			s.Line("nonsense")
			s.Expect("3 answers in a row were none of the choices, which means no answer")
		}, true, dismissed},
		{"Ctrl-C", func(s *teletype.Session) { s.Send("\x03") }, false, `{"error":"[Operation Cancelled] User cancelled tool execution."}`},
		{"Ctrl-C behind an answer", func(s *teletype.Session) { s.Line("1"); s.Expect(toSelect); s.Send("\x03") }, false,
			`{"error":"[Operation Cancelled] User cancelled tool execution."}`},
	} {
		for _, term := range pt.Terminals {
			t.Run(test.name+" "+term, func(t *testing.T) {
				replies := []et.Reply{questions(), et.Says("So be it."), et.Says("Still here.")}
				if !test.goesOn {
					replies = append(replies[:1], replies[2])
				}
				server := et.NewServer(replies...)
				c := pt.Terminal(t, server)
				c.Term = term
				s := teletype.Start(t, c)
				s.Say("make a service")
				s.Expect(toChoose)
				test.answer(s)
				if test.goesOn {
					s.Expect("So be it.")
				} else {
					s.Expect("cancelled, ")
				}
				s.Say("and now?")
				s.Expect("Still here.")
				s.Say("/quit")
				pt.Succeeds(t, s)
				if got := pt.AnswerOf(t, server, "ask_user"); got != test.want {
					t.Errorf("the model reads %s", got)
				}
				if n := strings.Count(string(s.Transcript()), "question 1 of 4"); n != 1 {
					t.Errorf("asked %d times", n)
				}
			})
		}
	}
}

// What was typed before a question was there does not answer it.
func TestTypedBeforeAQuestion(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			asked, typed := make(chan struct{}), make(chan struct{})
			reply := questions()
			reply.Inspect = func(ctx context.Context, _ *engine.Request) {
				close(asked)
				select {
				case <-typed:
				case <-ctx.Done():
				}
			}
			server := et.NewServer(reply, et.Says("I see."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("make a service")
			s.Expect("make a service\r\n")
			<-asked // what comes at once would be a part of a paste
			s.Line("2")
			close(typed)
			s.Expect("typed before the question were dropped")
			s.Expect(toChoose)
			s.Send("\x04")
			s.Expect("I see.")
			s.Say("/quit")
			s.Exit()
		})
	}
}

// A pasted answer is one answer, however many lines it has.
func TestPastedAnswer(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "ask_user", "questions", []any{
		map[string]any{"question": "What does it say?", "header": "Error", "type": "text"},
		map[string]any{"question": "Shall I begin?", "header": "Start", "type": "yesno"}})), et.Says("I see."))
	c := pt.Terminal(t, server)
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Say("help me")
	s.Expect(toSay)
	s.Send("\x1b[200~first\ny\nlast\x1b[201~")
	s.Expect("3 lines")
	s.Line("")
	s.Expect(toConfirm)
	s.Line("n")
	s.Expect("I see.")
	s.Say("/quit")
	s.Exit()
	if got, want := pt.AnswerOf(t, server, "ask_user"), `{"output":"{\"answers\":{\"0\":\"first\\ny\\nlast\",\"1\":\"No\"}}"}`; got != want {
		t.Errorf("the model reads %s", got)
	}
}

// Every question ends so that a script can wait for it.
func TestQuestionsByExpect(t *testing.T) {
	t.Parallel()
	path := pt.Need(t, "expect")
	server := et.NewServer(questions(), et.Says("I begin."))
	c := pt.Terminal(t, server)
	cmd := exec.CommandContext(t.Context(), path, "-c", `
		set timeout 300
		proc answer {text} {
			expect {
				-re {\nanswer [^\n]*: $} { send "$text\r" }
				timeout { exit 7 }
				eof { exit 8 }
			}
		}
		eval spawn -noecho [split $env(COMMAND) "\n"]
		expect "> "
		send "make a service\r"
		answer post
		answer 2,3
		answer my-service
		answer yes
		expect "I begin."
		expect "> "
		send "/quit\r"
		expect eof
		exit [lindex [wait] 3]`)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Env, "TERM=dumb", "COMMAND="+strings.Join(append([]string{c.Path}, c.Args...), "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	want := `{"output":"{\"answers\":{\"0\":\"PostgreSQL\",\"1\":\"Lint, Race detector\",\"2\":\"my-service\",\"3\":\"Yes\"}}"}`
	if got := pt.AnswerOf(t, server, "ask_user"); got != want {
		t.Errorf("the model reads %s", got)
	}
}

// todos is a call that writes a list of so many items, of which the first are
// done.
func todos(id string, done, n int) et.Reply {
	list := make([]any, n)
	for i := range list {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		list[i] = map[string]any{"description": "step " + string(rune('a'+i)), "status": status}
	}
	return et.Says("", et.Call(id, "write_todos", "todos", list))
}

// The list is shown when it changes, can be asked for, belongs to the session
// and goes when that is begun anew.
func TestTodos(t *testing.T) {
	t.Parallel()
	server := et.NewServer(todos("1", 0, 2), todos("2", 1, 3), et.Says("On my way."), et.Says("Going on."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	s.Say("/todos")
	s.Expect("there is no todo list\r\n")
	s.Say("work")
	s.Expect("tool: todo list, 2 items, 0 done\r\n  1 in progress: step a\r\n  2 pending: step b\r\nresult: ok\r\n")
	s.Expect("tool: todo list, 3 items, 1 done\r\n  1 done: step a\r\n  2 in progress: step b\r\n  3 pending: step c\r\nresult: ok\r\n")
	s.Expect("On my way.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Quiet: true})

	c.Args = append(c.Args, "--resume")
	s = teletype.Start(t, c)
	s.Say("/todos")
	s.Expect("todo list, 3 items, 1 done\r\n1 done: step a\r\n2 in progress: step b\r\n3 pending: step c\r\n")
	s.Say("/clear")
	s.Say("/todos")
	s.Expect("there is no todo list\r\n")
	s.Say("/quit")
	s.Exit()
	if !bytes.Contains(server.Requests()[2].Body, []byte(`1. [completed] step a\n2. [in_progress] step b`)) {
		t.Error("the list did not reach the model")
	}
}
