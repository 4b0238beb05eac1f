package main

import (
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"gemline/engine/enginetest"
)

// codeAssist starts a Code Assist server, and one of tokens, and points gemline
// at both with the credentials of a user. A line of the file METHODS names a
// method, or an operation, and what it answers, in JSON or as a fault; several
// lines about one answer it in turn. The replies are those of server.
//
//	codeassist METHODS FILE|:FAULT ...
func codeAssist(ts *testscript.TestScript, neg bool, args []string) {
	s := enginetest.NewServer(repliesOf(ts, args[1:])...)
	ts.Defer(s.Close)
	*ts.Value(serving{}).(**enginetest.Server) = s
	s.Assist = map[string][]enginetest.Reply{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		reply := enginetest.Whole(answer)
		if strings.HasPrefix(answer, ":") {
			reply = repliesOf(ts, []string{answer})[0]
		}
		s.Assist[name] = append(s.Assist[name], reply)
	}
	tokens := enginetest.NewTokens()
	ts.Defer(tokens.Close)
	file := ts.MkAbs("adc.json")
	ts.Check(os.WriteFile(file, tokens.User(""), 0o600))
	for name, value := range map[string]string{"CODE_ASSIST_ENDPOINT": s.URL, "GEMINI_CLI_USE_COMPUTE_ADC": "true",
		"GOOGLE_APPLICATION_CREDENTIALS": file, "GEMINI_API_KEY": "", "GOOGLE_GEMINI_BASE_URL": ""} {
		ts.Setenv(name, value)
	}
}

// asked checks what the server was asked, in order: methods, or paths where
// they name none.
//
//	asked METHOD|PATH ...
func asked(ts *testscript.TestScript, neg bool, args []string) {
	var got []string
	for _, r := range (*ts.Value(serving{}).(**enginetest.Server)).Requests() {
		if r.Action != "" {
			got = append(got, r.Action)
		} else {
			got = append(got, r.Path)
		}
	}
	if slices.Equal(got, args) == neg {
		ts.Fatalf("the server was asked %v", got)
	}
}

// arrives waits until the server is asked for something.
//
//	arrives METHOD
func arrives(ts *testscript.TestScript, neg bool, args []string) {
	s := *ts.Value(serving{}).(**enginetest.Server)
	for !slices.ContainsFunc(s.Requests(), func(r enginetest.Received) bool { return r.Action == args[0] }) {
		<-s.Arrived()
	}
}
