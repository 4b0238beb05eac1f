package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mcp/rpc"
)

// A transport connects to a server. ended explains the final error of a connection.
type transport struct {
	name string // stdio, http or sse
	open func(ctx context.Context) (stream rpc.Stream, ended func(error) error, err error)
}

// transports returns the candidate transports for the server, the best first.
func (l *serverConn) transports() ([]transport, error) {
	if err := CheckServer(l.Server); err != nil {
		return nil, err
	}
	free := false
	if l.Rights != nil { // Rights apply to an address, too
		var err error
		if free, err = l.Rights(); err != nil {
			return nil, err
		}
	}
	if l.URL != "" {
		r, err := l.remote()
		if err != nil {
			return nil, err
		}
		plain := func(err error) error { return err }
		both := []transport{
			{"http", func(context.Context) (rpc.Stream, func(error) error, error) { return rpc.HTTP(r), plain, nil }},
			{"sse", func(ctx context.Context) (rpc.Stream, func(error) error, error) {
				s, err := rpc.SSE(ctx, r)
				return s, plain, err
			}},
		}
		switch l.Kind {
		case "http":
			return both[:1], nil
		case "sse":
			return both[1:], nil
		}
		return both, nil
	}
	return []transport{{"stdio", func(context.Context) (rpc.Stream, func(error) error, error) { return l.program(free) }}}, nil
}

// CheckServer returns an error if the settings of a server are invalid.
func CheckServer(s Server) error {
	switch u, err := url.Parse(s.URL); {
	case s.URL == "" && (len(s.Command) == 0 || s.Command[0] == ""):
		return errors.New("it has neither httpUrl nor url nor command")
	case s.URL == "" && holdsArguments(s.Command[0]):
		words := strings.Fields(s.Command[0])
		args, _ := text.JSON(words[1:], "")
		return fmt.Errorf("there is no program %q; its arguments belong into args: \"command\": %q, \"args\": %s", s.Command[0], words[0], args)
	case s.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Errorf("%q is no address of a server; one begins with https:// or http://", s.URL)
	case s.URL != "" || s.Dir == "":
		return nil
	}
	at, err := os.Stat(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cwd: %s: %w", s.Dir, disk.Cause(err))
	}
	if err != nil || !at.IsDir() {
		return fmt.Errorf("cwd: there is no directory %s", s.Dir)
	}
	return nil
}

// CheckEnv returns messages about variables of a local server that are not set.
func CheckEnv(s Server) []string {
	if s.URL != "" {
		return nil
	}
	_, left := environment(s.Env)
	return left
}

// holdsArguments reports whether a command contains arguments behind its program. A
// program's path may have blanks.
func holdsArguments(command string) bool {
	words := strings.Fields(command)
	if len(words) < 2 {
		return false
	}
	_, whole := exec.LookPath(command)
	_, first := exec.LookPath(words[0])
	return whole != nil && first == nil
}

// remote returns the connection settings of a remote server.
func (l *serverConn) remote() (rpc.Remote, error) {
	r := rpc.Remote{URL: l.URL, Header: http.Header{}, Client: &http.Client{CheckRedirect: sameHost}}
	for name, value := range l.Header {
		r.Header.Set(name, value)
	}
	if l.set.Transport == nil {
		return r, nil
	}
	var err error
	r.Client.Transport, err = l.set.Transport(l.Server)
	return r, err
}

// sameHost follows redirects only within the host for which the headers are meant.
func sameHost(req *http.Request, via []*http.Request) error {
	const most = 5
	if first := via[0].URL; len(via) > most || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// program starts the server, unconfined if free is true.
func (l *serverConn) program(free bool) (rpc.Stream, func(error) error, error) {
	env, left := environment(l.Env)
	for _, said := range left {
		l.set.notify("MCP server %s: %s", l.Name, said)
	}
	p, err := l.set.Launcher.Open(launch.Command{Argv: l.Command, Dir: l.Dir, Unconfined: free,
		Vars: launch.Sealed, Env: env, KillLeftovers: true,
		Output: func(said string) { l.set.log(l.Name, said) }})
	if err != nil {
		return nil, nil, err
	}
	confined := !free && l.set.Launcher.Confines()
	ended := func(err error) error { return l.ending(err, p.Close(), confined) }
	return rpc.Lines(p.Stdout, p.Stdin, func() error { p.Close(); return nil }), ended, nil
}
