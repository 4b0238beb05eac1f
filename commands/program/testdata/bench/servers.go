package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"
)

// desk is an MCP server in sh.
const desk = `say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
	id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}';;
	*'"method":"tools/list"'*) say '{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}';;
	esac
done
`

// servers measures the time to the prompt of a session, with and without MCP servers: fifteen
// that answer, three that end at once and two that never answer.
func (b *bench) servers() {
	script := filepath.Join(b.dir, "desk.sh")
	check(os.WriteFile(script, []byte(desk), 0o600))
	var list []string
	for i := range 20 {
		command := fmt.Sprintf(`"command":"sh","args":[%q]`, script)
		switch {
		case i >= 18:
			command = `"command":"sleep","args":["60"]`
		case i >= 15:
			command = `"command":"false"`
		}
		list = append(list, fmt.Sprintf(`"s%02d":{%s}`, i, command))
	}
	settings := filepath.Join(b.dir, "home", ".gemini", "settings.json")
	check(os.MkdirAll(filepath.Dir(settings), 0o700))
	without := b.times(wall, b.prompt)
	check(os.WriteFile(settings, []byte(`{"mcpServers":{`+strings.Join(list, ",")+`}}`), 0o600))
	with := b.times(wall, b.prompt)
	check(os.Remove(settings))
	row("a session's prompt", "ms", without, "", nil)
	row("the same with 20 MCP servers, 5 of them dead", "ms", with, "without", without)
}

// prompt starts a session at a terminal and waits for its prompt.
func (b *bench) prompt() sample {
	cmd := exec.Command(b.bin, "-m", "gemini-3.8-flash")
	cmd.Dir, cmd.Env = b.project(""), b.environ()
	began := time.Now()
	tty, err := pty.Start(cmd)
	check(err)
	defer tty.Close()
	var said []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(said, []byte("\n> ")) {
		n, err := tty.Read(buf)
		if said = append(said, buf[:n]...); err != nil {
			check(fmt.Errorf("no prompt: %w: %s", err, said))
		}
	}
	s := sample{wall: time.Since(began)}
	_, err = tty.WriteString("/quit\n")
	check(err)
	for err == nil {
		_, err = tty.Read(buf)
	}
	cmd.Wait()
	return s
}
