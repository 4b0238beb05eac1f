package acp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"gemline/repl/acp"
	"gemline/tools/mcp/rpc"
)

// An editor is served at a stream, here by nobody who could begin a session.
func Example() {
	in, editor := io.Pipe()
	answers, out := io.Pipe()
	over := make(chan bool)
	go func() {
		acp.Serve(context.Background(), acp.Config{Version: "1"}, rpc.Lines(in, out, func() error { out.Close(); return in.Close() }))
		close(over)
	}()
	io.WriteString(editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`+"\n")
	line, _ := bufio.NewReader(answers).ReadString('\n')
	fmt.Print(line)
	editor.Close()
	<-over
	// Output:
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a conversation begins with initialize"}}
}
