package cli

import (
	"strconv"
	"strings"
)

// Serving holds the flags of gemline mcp serve.
type Serving struct {
	HTTP bool `name:"http" help:"By streamable HTTP, for programs on this machine. The address and the token that they need are printed as one line of JSON. Without it, standard input and output are one client's."`
	Port int  `placeholder:"N" help:"With --http, the port to listen at, in place of any that is free."`

	// A2A is set for gemline a2a serve.
	A2A bool `kong:"-"`
}

// a2aCommand is gemline a2a.
type a2aCommand struct {
	Serve a2aServing `cmd:"" help:"Take tasks by the Agent2Agent protocol. The address and the token that clients need are printed as one line of JSON."`
}

type a2aServing struct {
	Port int `placeholder:"N" help:"The port to listen at, in place of any that is free."`
}

// ParseServing parses the words of a sub-command that serves clients. It returns nil if they are
// another sub-command. Own are the program's flags among the words. This sub-command differs from
// others: it holds conversations.
func ParseServing(words []string) (s *Serving, own []string, err error) {
	if len(words) < 2 || words[0] != "mcp" && words[0] != "a2a" || words[1] != "serve" {
		return nil, nil, nil
	}
	s = &Serving{A2A: words[0] == "a2a"}
	for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
		name, value, joined := strings.Cut(rest[0], "=")
		switch {
		case wantsHelp(name):
			return nil, nil, nil
		case rest[0] == "--http" && !s.A2A:
			s.HTTP = true
		case name == "--port":
			if !joined && len(rest) > 1 {
				rest = rest[1:]
				value = rest[0]
			}
			if s.Port, err = ParsePort(value); err != nil {
				return s, own, misused("--port needs a number up to 65535")
			}
		default:
			own = append(own, rest[0])
		}
	}
	if s.Port > 0 && !s.HTTP && !s.A2A {
		err = misused("--port goes with --http")
	}
	return s, own, err
}

// ParsePort reads a port number; 0 is any free port.
func ParsePort(word string) (int, error) {
	n, err := strconv.ParseUint(word, 10, 16)
	return int(n), err
}

// Name returns the name of the sub-command.
func (s *Serving) Name() string {
	if s.A2A {
		return "a2a serve"
	}
	return "mcp serve"
}

// Help returns the text after the usage.
func (*Serving) Help() string {
	return "Flags of gemline's own may follow, such as --approval-mode. Most clients take: {\"command\": \"gemline\", \"args\": [\"mcp\", \"serve\"]}"
}

// Help returns the text after the usage.
func (*a2aServing) Help() string {
	return "Flags of gemline's own may follow, such as --approval-mode."
}

// Run returns the error of a place that can't serve.
func (s *Serving) Run() error { return s.refuse() }

// Run returns the error of a place that can't serve.
func (*a2aServing) Run() error { return (&Serving{A2A: true}).refuse() }

func (s *Serving) refuse() error {
	return misused("gemline %s is started by other programs, or by a shell, and not in a session", s.Name())
}
